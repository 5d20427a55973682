// Vitto's own loop as the engine bench measures it: the real run path with the journal on PostgreSQL. Only the model
// and the tool are made up. Leases are not renewed here: a run is over long before the first renewal is due.
import pg from 'pg';
import { z } from 'zod';
import { assembleContext, decideByRisk } from '../apps/server/src/autonomy/index.ts';
import { ModelLimiter } from '../apps/server/src/engine/models/limiter.ts';
import type { Model } from '../apps/server/src/engine/models/model.ts';
import { ToolRegistry } from '../apps/server/src/engine/tools/registry.ts';
import { defineTool } from '../apps/server/src/engine/tools/tool.ts';
import { ensureOwner, readSettings } from '../apps/server/src/identity/index.ts';
import { createTestSecrets } from '../apps/server/src/identity/vault/testing.ts';
import { systemClock } from '../apps/server/src/kernel/clock.ts';
import { openDatabase, type Database } from '../apps/server/src/kernel/database/database.ts';
import { migrateDatabase } from '../apps/server/src/kernel/database/migrate.ts';
import { createIdleOutcomes } from '../apps/server/src/intelligence/testing.ts';
import { silentLogger } from '../apps/server/src/kernel/logger.ts';
import { SignalBus } from '../apps/server/src/kernel/signal-bus.ts';
import { createRun, type RunDependencies } from '../apps/server/src/runs/index.ts';
import { createTestOrchestrator } from '../apps/server/src/runs/testing/test-orchestrator.ts';
import { runTask, type RunTaskDependencies } from '../apps/server/src/runs/run-task.ts';
import { countQueries } from './count-queries.ts';
import { createInstantModel, TOOL, toolResult, USER_PROMPT } from './instant-model.ts';
import { serveSubject, type RunOutcome } from './subject-protocol.ts';

interface Installation {
  database: Database;
  signals: SignalBus;
  userId: string;
  /** Statements sent to the database so far. */
  queries: () => number;
}

await serveSubject(async () => {
  const installation = await openInstallation(process.env['BENCH_DATABASE_URL'] ?? '');
  return {
    info: {
      name: 'Vitto',
      version: `vitto ${await readVersion()}`,
      persists:
        'each step, PostgreSQL: intent before the tool runs, budget, turn and result before the next turn',
    },
    run: (steps) => runOnce(installation, steps),
    close: async () => {
      await installation.signals.stop();
      await installation.database.pool.end();
    },
  };
});

async function openInstallation(url: string): Promise<Installation> {
  await migrateDatabase(url);
  const queries = countQueries(pg.Client);
  const database = openDatabase({ url, applicationName: 'vitto-bench-engine' });
  const publish = (text: string, values: unknown[]) => database.pool.query(text, values);
  const signals = new SignalBus({ url, publish, logger: silentLogger });
  await signals.start();
  const owner = await ensureOwner(database);
  return { database, signals, userId: owner.id, queries };
}

async function runOnce(installation: Installation, steps: number): Promise<RunOutcome> {
  const { database, signals, userId, queries } = installation;
  const before = queries();
  let toolCalls = 0;
  const runs: RunDependencies = {
    database,
    queue: { wake: async () => undefined, send: async () => undefined },
    signals,
    logger: silentLogger,
    rootBudget: {
      maxIterations: steps + 10,
      maxTokens: 100_000_000,
      maxCostUsd: 1_000,
      maxDurationMs: 3_600_000,
    },
    maxSubVittos: 5,
    readSettings: (id) => readSettings(database, id),
    checkModels: () => Promise.resolve(),
    resolveAllowedPaths: async (paths) => paths,
    outcomes: createIdleOutcomes(database),
  };
  const { taskId } = await createRun(runs, { userId, text: USER_PROMPT, source: 'bench' });
  const deps = taskDependencies(installation, runs, steps, () => (toolCalls += 1));
  const control = { signal: new AbortController().signal, isDraining: () => false };
  const end = await runTask(deps, taskId, control);
  const task = await database.pool.query<{ result: string | null; error: unknown }>(
    'select result, error from vitto_tasks where id = $1',
    [taskId],
  );
  const [row] = task.rows;
  if (end?.kind !== 'completed') throw new Error(`the task did not complete: ${JSON.stringify(row)}`);
  return { toolCalls, text: row?.result ?? '', statements: queries() - before };
}

function taskDependencies(
  { database, signals }: Installation,
  runs: RunDependencies,
  steps: number,
  onCall: () => void,
): RunTaskDependencies {
  const lookup = defineTool({
    ...TOOL,
    input: z.object({ key: z.string() }),
    domain: 'knowledge',
    risk: 'write',
    tier: 'in-process',
    idempotency: 'once',
    timeoutMs: 10_000,
    run: async (input) => {
      onCall();
      return { status: 'ok', text: toolResult(input) };
    },
  });
  const registry = new ToolRegistry([{ name: 'bench', tools: [lookup] }]);
  return {
    database,
    runs,
    signals,
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
    resolveModels: async () => [toModel(steps)],
    limiter: new ModelLimiter(systemClock),
    secrets: createTestSecrets(database),
    readSettings: (id) => readSettings(database, id),
    guests: {
      claim: () => Promise.reject(new Error('no tool of this bench needs a guest')),
      rest: () => Promise.resolve(),
      release: async () => undefined,
      suspend: async () => undefined,
      facts: async () => null,
    },
    dailyLimitNano: 1_000_000_000_000_000,
    clock: systemClock,
    logger: silentLogger,
    workerId: `bench-${process.pid}`,
  };
}

/** With a price, so that money is reserved and booked as for a paid model. */
function toModel(steps: number): Model {
  return {
    id: 'bench/instant',
    language: createInstantModel(steps),
    price: { input: 1, cachedInput: 0.1, cacheWrite: 1.25, output: 5 },
    contextWindow: 1_000_000,
    maxOutputTokens: 8_000,
    isScripted: false,
    limiterKey: 'bench',
  };
}

async function readVersion(): Promise<string> {
  const { default: manifest } = (await import('../package.json', { with: { type: 'json' } })) as {
    default: { version: string };
  };
  return manifest.version;
}
