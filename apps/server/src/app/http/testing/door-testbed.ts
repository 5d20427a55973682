import { setTimeout as pause } from 'node:timers/promises';
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { TOKEN_SCOPES, type TokenScope } from '@vitto/contracts';
import { assembleContext, decideByRisk } from '../../../autonomy/index.ts';
import { createCoreTools, ModelLimiter, ToolRegistry, type Model, type Tool } from '../../../engine/index.ts';
import { createApiToken } from '../../../identity/index.ts';
import { createTestSecrets } from '../../../identity/vault/testing.ts';
import { OutcomeFeedbackService } from '../../../intelligence/index.ts';
import { systemClock } from '../../../kernel/clock.ts';
import { silentLogger } from '../../../kernel/logger.ts';
import { WakeQueue } from '../../../kernel/queue.ts';
import { SignalBus } from '../../../kernel/signal-bus.ts';
import { Worker } from '../../../runs/index.ts';
import { createTestOrchestrator } from '../../../runs/testing/test-orchestrator.ts';
import { functionModel } from '../../../runs/testing/run-harness.ts';
import { createHttpTestbed, createTestRuns, type HttpTestbed, type TestServer } from './http-testbed.ts';
import type { HttpDependencies } from '../create-http-server.ts';

/** A server that other programs talk to, and a worker that does their tasks with a model and tools of the test. */
export interface DoorTestbed {
  bed: HttpTestbed;
  server: TestServer;
  /** Another process on the same database. */
  startServer: (options?: Partial<HttpDependencies>) => Promise<TestServer>;
  /** The model that the next turns are asked of. */
  setModel: (model: Model) => void;
  createToken: (scopes?: TokenScope[]) => Promise<string>;
  close: () => Promise<void>;
}

export async function createDoorTestbed(tools: Tool[]): Promise<DoorTestbed> {
  const bed = await createHttpTestbed();
  const { database, databaseUrl: url } = bed;
  const publish = (text: string, values: unknown[]) => database.pool.query(text, values);
  const signals = new SignalBus({ url, publish, logger: silentLogger });
  await signals.start();
  const queue = new WakeQueue({ url, logger: silentLogger, isWorker: true });
  await queue.start();
  // The end of a task asks for its report.
  const outcomes = new OutcomeFeedbackService({ database, queue, logger: silentLogger });
  await outcomes.start();
  const runs = { ...createTestRuns(database, signals), queue };
  const startServer = (options: Partial<HttpDependencies> = {}) => bed.startServer({ runs, ...options });
  const server = await startServer();
  let model: Model = functionModel(() => []);
  const registry = new ToolRegistry([
    createCoreTools(() => Promise.reject(new Error('not in this test'))),
    { name: 'test', tools },
  ]);
  const worker = new Worker({
    database,
    queue,
    bus: signals,
    signals,
    runs,
    orchestrator: createTestOrchestrator(runs),
    openRegistry: () => Promise.resolve(registry),
    listSkills: () => Promise.resolve([]),
    evaluateGate: (task) =>
      Promise.resolve(
        assembleContext(task, { now: Date.now(), tier: 'vm', degradedReason: null, startScore: 25 }),
      ),
    decide: decideByRisk,
    resolveModels: () => Promise.resolve([model]),
    limiter: new ModelLimiter(systemClock),
    secrets: createTestSecrets(database),
    readSettings: runs.readSettings,
    guests: {
      claim: () => Promise.reject(new Error('no sandbox in this test')),
      rest: () => Promise.resolve(),
      release: () => Promise.resolve(),
      suspend: () => Promise.resolve(),
      facts: () => Promise.resolve(null),
    },
    sweepGuests: () => Promise.resolve(),
    canHaveVm: () => Promise.resolve(false),
    dailyLimitNano: null,
    clock: systemClock,
    logger: silentLogger,
    workerId: 'door-worker',
    concurrency: 4,
  });
  await worker.start();
  return {
    bed,
    server,
    startServer,
    setModel: (next) => void (model = next),
    createToken: async (scopes = [...TOKEN_SCOPES]) =>
      (await createApiToken(database, bed.owner.userId, { name: 'door', scopes })).token,
    close: async () => {
      await worker.stop();
      await outcomes.stop();
      await queue.stop();
      await signals.stop();
      await bed.close();
    },
  };
}

/** A model whose turns are written piece by piece, as the test hands them out. */
export function streamedModel(
  answer: (call: number) => AsyncIterable<LanguageModelV4StreamPart>,
): Model & { calls: unknown[] } {
  const model = functionModel(() => []);
  model.language.doStream = (options) => {
    model.calls.push(options);
    const parts = answer(model.calls.length);
    return Promise.resolve({
      stream: ReadableStream.from<LanguageModelV4StreamPart>(parts),
    });
  };
  return model;
}

/** Until a condition holds that nothing signals. */
export async function until(condition: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await condition())) await pause(20);
}
