// A worker of the bench of sub-Vittos: the real worker, queue and signals, alone in its process. Only the model and
// the read tool are made up.
import { AsyncLocalStorage } from 'node:async_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import pg from 'pg';
import { z } from 'zod';
import { assembleContext, decideByRisk } from '../apps/server/src/autonomy/index.ts';
import {
  createAgentTools,
  createCoreTools,
  defineTool,
  ModelLimiter,
  ToolRegistry,
  type Tool,
  type ToolContext,
} from '../apps/server/src/engine/index.ts';
import { createTestSecrets } from '../apps/server/src/identity/vault/testing.ts';
import { systemClock } from '../apps/server/src/kernel/clock.ts';
import { silentLogger } from '../apps/server/src/kernel/logger.ts';
import { Worker } from '../apps/server/src/runs/index.ts';
import {
  createTestOrchestrator,
  SUB_VITTO_LIMITS,
} from '../apps/server/src/runs/testing/test-orchestrator.ts';
import { createAgentsModel } from './agents-model.ts';
import { openAgentsRuns } from './agents-runs.ts';
import { serveCalls } from './child-calls.ts';
import { countQueries } from './count-queries.ts';
import { TOOL, toolResult } from './instant-model.ts';
import { machineMs } from './monotonic.ts';
import { residentMb } from './report.ts';

/** A call of `deploy_agents`, in milliseconds of the machine's clock. */
export interface Deployed {
  ids: string[];
  begunMs: number;
  /** The first event of each journal had been read back over another connection. */
  readMs: number;
}
/** A task's first run here: when a slot had its job, and when `task.started` was committed. */
export interface Started {
  taskId: string;
  pickedMs: number;
  startedMs: number;
}
export interface WorkerReport {
  deployed: Deployed[];
  started: Started[];
  /** How often the read tool ran. */
  reads: number;
  /** Statements sent to the database, each a round trip. */
  statements: number;
  cpuMs: number;
  residentMb: number;
  /** What is in use once everything that may be let go is let go. */
  heapMb: number;
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
const statements = countQueries(pg.Client);
const running = new AsyncLocalStorage<{ taskId: string; pickedMs: number }>();
const seen = { deployed: [] as Deployed[], started: new Map<string, Started>(), reads: 0 };
const opened = { stop: () => Promise.resolve() };

const calls = {
  start: (input: { databaseUrl: string; slots: number }): Promise<void> => start(input),
  /** What was noted since the last report. */
  report: async (): Promise<WorkerReport> => report(),
  stop: (): Promise<void> => opened.stop(),
};
export type AgentsWorkerCalls = typeof calls;
serveCalls(calls);

async function start({ databaseUrl, slots }: { databaseUrl: string; slots: number }): Promise<void> {
  const { runs, queue, signals, outcomes, close } = await openAgentsRuns(databaseUrl, { isWorker: true });
  const { database } = runs;
  const reader = new pg.Client({ connectionString: databaseUrl });
  await reader.connect();
  const agents = createAgentTools(SUB_VITTO_LIMITS);
  const registry = new ToolRegistry([
    createCoreTools(() => Promise.reject(new Error('not used here'))),
    { ...agents, tools: agents.tools.map((tool) => timeDeploying(tool, reader)) },
    { name: 'bench', tools: [lookup] },
  ]);
  const model = createAgentsModel();
  const worker = new Worker({
    database,
    queue: {
      wake: (id, client) => queue.wake(id, client),
      stopWork: () => queue.stopWork(),
      work: (count, handler) =>
        queue.work(count, (taskId) => running.run({ taskId, pickedMs: machineMs() }, () => handler(taskId))),
    },
    bus: signals,
    signals: {
      journalGrew: (userId) => {
        noteStart();
        signals.journalGrew(userId);
      },
    },
    runs,
    orchestrator: createTestOrchestrator(runs),
    openRegistry: () => Promise.resolve(registry),
    listSkills: () => Promise.resolve([]),
    evaluateGate: async (task) =>
      assembleContext(task, {
        now: systemClock.now(),
        tier: 'in-process',
        degradedReason: null,
        startScore: 50,
      }),
    decide: decideByRisk,
    resolveModels: () => Promise.resolve([model]),
    limiter: new ModelLimiter(systemClock),
    secrets: createTestSecrets(database),
    readSettings: runs.readSettings,
    guests: {
      claim: () => Promise.reject(new Error('no tool of this bench needs a guest')),
      rest: () => Promise.resolve(),
      release: () => Promise.resolve(),
      suspend: () => Promise.resolve(),
      facts: () => Promise.resolve(null),
    },
    sweepGuests: () => Promise.resolve(),
    canHaveVm: () => Promise.resolve(false),
    dailyLimitNano: 1_000_000_000_000_000,
    clock: systemClock,
    logger: silentLogger,
    workerId: `bench-${process.pid}`,
    concurrency: slots,
  });
  await outcomes.work();
  await worker.start();
  opened.stop = async () => {
    await worker.stop();
    await reader.end();
    await close();
  };
}

const lookup = defineTool({
  ...TOOL,
  input: z.object({ key: z.string() }),
  domain: 'knowledge',
  risk: 'read',
  tier: 'in-process',
  idempotency: 'pure',
  timeoutMs: 10_000,
  run: async (input) => {
    seen.reads += 1;
    return { status: 'ok', text: toolResult(input) };
  },
});

/** `deploy_agents` with the time until the first event of each journal can be read by somebody else. */
function timeDeploying(tool: Tool, reader: pg.Client): Tool {
  if (tool.name !== 'deploy_agents') return tool;
  return {
    ...tool,
    run: (input, context) => {
      const begunMs = machineMs();
      const deploy: ToolContext['agents']['deploy'] = async (round) => {
        const result = await context.agents.deploy(round);
        if ('refusal' in result) throw new Error(result.refusal);
        const { ids } = result;
        const { rowCount } = await reader.query({ ...FIRST_EVENTS, values: [ids] });
        if (rowCount !== ids.length) throw new Error(`${rowCount} first events of ${ids.length}`);
        seen.deployed.push({ ids, begunMs, readMs: machineMs() });
        return result;
      };
      return tool.run(input, { ...context, agents: { ...context.agents, deploy } });
    },
  };
}
const FIRST_EVENTS = {
  name: 'first-events',
  text: 'select payload from vitto_task_events where task_id = any($1::uuid[]) and seq = 1',
};

/** A run says that the journal grew for the first time right after its first event was committed. */
function noteStart(): void {
  const run = running.getStore();
  if (run === undefined || seen.started.has(run.taskId)) return;
  seen.started.set(run.taskId, { ...run, startedMs: machineMs() });
}

function report(): WorkerReport {
  collectGarbage();
  const { user, system } = process.cpuUsage();
  const result = {
    deployed: seen.deployed,
    started: [...seen.started.values()],
    reads: seen.reads,
    statements: statements(),
    cpuMs: (user + system) / 1000,
    residentMb: residentMb(process.pid),
    heapMb: process.memoryUsage().heapUsed / 2 ** 20,
  };
  seen.deployed = [];
  seen.started = new Map();
  return result;
}
