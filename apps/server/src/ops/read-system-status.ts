import type { ModelStatus, ProcessStatus, SandboxHostInfo, SystemStatus } from '@vitto/contracts';
import type { Database } from '../kernel/database/database.ts';
import { readProcesses, type ProcessRecord } from '../kernel/process-registry.store.ts';
import { countTasks, readQueueFigures, type QueueFigures } from '../engine/index.ts';
import type { SandboxProbe } from '../sandbox/index.ts';
import { readDatabaseFigures } from './database-figures.store.ts';
import { describeDatabase, describeModels, describeQueue, describeWorkers } from './describe-components.ts';
import { describeSandbox } from './describe-sandbox.ts';

export interface StatusSources {
  database: Database;
  databaseKind: SystemStatus['database']['kind'];
  probeSandbox: () => Promise<SandboxProbe>;
  /** What the hosts of VMs say of themselves; in bounded time. */
  sandboxHosts: () => Promise<SandboxHostInfo[]>;
  /** The image that tasks get their VM from. */
  template: string;
  modelStatus: () => Promise<ModelStatus[]>;
  version: string;
  startedAt: Date;
  roles: readonly string[];
}

/** What of this installation works, read anew at each call; the tasks are the user's own. */
export async function readSystemStatus(sources: StatusSources, userId: string): Promise<SystemStatus> {
  const [figures, processes, queue, probe, hosts, tasks, models] = await Promise.all([
    readDatabaseFigures(sources.database),
    readProcesses(sources.database),
    readQueueFigures(sources.database.pool),
    sources.probeSandbox(),
    sources.sandboxHosts(),
    countTasks(sources.database.pool, userId),
    sources.modelStatus(),
  ]);
  const { readAt, ...database } = figures;
  return {
    version: sources.version,
    startedAt: sources.startedAt.toISOString(),
    roles: [...sources.roles],
    components: [
      describeDatabase(database),
      describeQueue(queue),
      describeWorkers(processes),
      describeSandbox(probe, hosts, sources.template),
      describeModels(models),
    ],
    models,
    tasks,
    processes: processes.map((process) => toProcessStatus(process, queue)),
    queue: toQueueStatus(queue),
    readAt: readAt.toISOString(),
    database: { ...database, kind: sources.databaseKind },
  };
}

function toProcessStatus(process: ProcessRecord, queue: QueueFigures): ProcessStatus {
  return {
    ...process,
    startedAt: process.startedAt.toISOString(),
    heartbeatAt: process.heartbeatAt.toISOString(),
    runningTasks: queue.runningBy[process.id] ?? 0,
  };
}

function toQueueStatus({ runningBy: _, ...queue }: QueueFigures): SystemStatus['queue'] {
  return queue;
}
