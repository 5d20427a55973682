import { readSettings } from '../apps/server/src/identity/index.ts';
import { OutcomeFeedbackService } from '../apps/server/src/intelligence/index.ts';
import { openDatabase } from '../apps/server/src/kernel/database/database.ts';
import { silentLogger } from '../apps/server/src/kernel/logger.ts';
import { WakeQueue } from '../apps/server/src/kernel/queue.ts';
import { SignalBus } from '../apps/server/src/kernel/signal-bus.ts';
import type { RunDependencies } from '../apps/server/src/runs/index.ts';
import { SUB_VITTO_LIMITS } from '../apps/server/src/runs/testing/test-orchestrator.ts';

/** What a process has of a database in use: its pool, its queue, its signals. */
export interface AgentsRuns {
  runs: RunDependencies;
  queue: WakeQueue;
  signals: SignalBus;
  outcomes: OutcomeFeedbackService;
  close: () => Promise<void>;
}

/** Opens them as the product does; the database is migrated. */
export async function openAgentsRuns(url: string, { isWorker }: { isWorker: boolean }): Promise<AgentsRuns> {
  const database = openDatabase({ url, applicationName: 'vitto-bench-agents' });
  const publish = (text: string, values: unknown[]) => database.pool.query(text, values);
  const signals = new SignalBus({ url, publish, logger: silentLogger });
  await signals.start();
  const queue = new WakeQueue({ url, logger: silentLogger, isWorker });
  await queue.start();
  const outcomes = new OutcomeFeedbackService({ database, queue, logger: silentLogger });
  await outcomes.start();
  const runs: RunDependencies = {
    database,
    queue,
    signals,
    logger: silentLogger,
    // A hundred sub-Vittos want half a million tokens at least.
    rootBudget: {
      maxIterations: 50,
      maxTokens: 100_000_000,
      maxCostUsd: 1_000,
      maxDurationMs: 3_600_000,
    },
    maxSubVittos: SUB_VITTO_LIMITS.maxParallel,
    readSettings: (userId) => readSettings(database, userId),
    checkModels: () => Promise.resolve(),
    resolveAllowedPaths: (paths) => Promise.resolve(paths),
    outcomes,
  };
  const close = async () => {
    await outcomes.stop();
    await queue.stop();
    await signals.stop();
    await database.pool.end();
  };
  return { runs, queue, signals, outcomes, close };
}
