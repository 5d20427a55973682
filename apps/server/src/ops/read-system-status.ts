import type { ComponentStatus, ModelStatus, SystemStatus } from '@vitto/contracts';
import type { Database } from '../kernel/database/database.ts';
import { readProcesses } from '../kernel/process-registry.store.ts';
import { countTasks } from '../engine/index.ts';
import type { SandboxProbe } from '../sandbox/index.ts';

export interface StatusSources {
  database: Database;
  probeSandbox: () => Promise<SandboxProbe>;
  modelStatus: () => ModelStatus[];
  version: string;
  startedAt: Date;
  roles: readonly string[];
}

/** What of this installation works, read anew at each call; the tasks are the user's own. */
export async function readSystemStatus(sources: StatusSources, userId: string): Promise<SystemStatus> {
  const [database, workers, sandbox, tasks] = await Promise.all([
    checkDatabase(sources.database),
    checkWorkers(sources.database),
    sources.probeSandbox().then(describeSandbox),
    countTasks(sources.database.pool, userId),
  ]);
  const models = sources.modelStatus();
  return {
    version: sources.version,
    startedAt: sources.startedAt.toISOString(),
    roles: [...sources.roles],
    components: [database, workers, sandbox, describeModels(models)],
    models,
    tasks,
  };
}

async function checkDatabase(database: Database): Promise<ComponentStatus> {
  const began = performance.now();
  const result = await database.pool.query("select current_setting('server_version') as version");
  const { version } = result.rows[0] as { version: string };
  return {
    name: 'database',
    state: 'ok',
    detail: `PostgreSQL ${version}, ${Math.round(performance.now() - began)} ms`,
  };
}

async function checkWorkers(database: Database): Promise<ComponentStatus> {
  const processes = await readProcesses(database);
  const workers = processes.filter((one) => one.isAlive && one.roles.includes('worker'));
  if (workers.length > 0) {
    return { name: 'workers', state: 'ok', detail: `${workers.length} running` };
  }
  return {
    name: 'workers',
    state: 'down',
    detail: 'none is running, tasks wait',
    hint: 'Start one: npm run vitto -- worker',
  };
}

/** The sandbox as people see it, from its probe. */
export function describeSandbox(probe: SandboxProbe): ComponentStatus {
  if (!probe.available) {
    return {
      name: 'sandbox',
      state: 'missing',
      detail: `${probe.reason ?? 'not available'}; commands and files are off`,
      ...(probe.hint === null ? {} : { hint: probe.hint }),
    };
  }
  return {
    name: 'sandbox',
    state: 'degraded',
    detail: `process sandbox, memory held by ${probe.memoryLimit ?? 'nothing'}; no VM tier in this version`,
  };
}

/** The models as people see them. */
export function describeModels(models: ModelStatus[]): ComponentStatus {
  const main = models.find((model) => model.role === 'main');
  if (main === undefined || main.models.length === 0) {
    return {
      name: 'model',
      state: 'missing',
      detail: 'no model is set up',
      hint: 'Set a provider key (ANTHROPIC_API_KEY, OPENAI_API_KEY, …) or VITTO_MODEL and start again. `npm run demo` needs none.',
    };
  }
  return {
    name: 'model',
    state: 'ok',
    detail: `${main.models.join(', ')}${main.scripted ? ' (scripted)' : ''}`,
  };
}
