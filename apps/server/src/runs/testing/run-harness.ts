import {
  createAgentTools,
  createCoreTools,
  type DecideCall,
  findTask,
  insertConversation,
  type Model,
  ModelLimiter,
  readTaskEvents,
  type SubVittoLimits,
  type Tool,
  ToolRegistry,
  toTask,
} from '../../engine/index.ts';
import {
  GuestError,
  settings,
  type EventEnvelope,
  type GuestSession,
  type Settings,
  type Task,
} from '@vitto/contracts';
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider';
import { assembleContext, decideByRisk } from '../../autonomy/index.ts';
import { createTestSecrets } from '../../identity/vault/testing.ts';
import { systemClock } from '../../kernel/clock.ts';
import { createTestDatabase } from '../../kernel/database/testing.ts';
import { createIdleOutcomes } from '../../intelligence/testing.ts';
import { newId } from '../../kernel/ids.ts';
import { silentLogger } from '../../kernel/logger.ts';
import { createRun, sendMessage } from '../start-run.ts';
import { createTestOrchestrator, SUB_VITTO_LIMITS } from './test-orchestrator.ts';
import type { RunDependencies } from '../run-dependencies.ts';
import { runTask, type RunTaskDependencies } from '../run-task.ts';

/** A model that answers by a function of the prompt; `answer` gives the stream parts of one turn. */
export function functionModel(
  answer: (
    options: LanguageModelV4CallOptions,
    call: number,
  ) => LanguageModelV4StreamPart[] | Promise<LanguageModelV4StreamPart[]>,
  overrides: Partial<Model> = {},
): Model & { calls: LanguageModelV4CallOptions[] } {
  const calls: LanguageModelV4CallOptions[] = [];
  const language: LanguageModelV4 = {
    specificationVersion: 'v4',
    provider: 'test',
    modelId: 'test',
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error('not used')),
    doStream: async (options) => {
      calls.push(structuredClone(withoutSignal(options)));
      const parts = await answer(options, calls.length);
      return {
        stream: new ReadableStream({ start: (c) => (parts.forEach((p) => c.enqueue(p)), c.close()) }),
      };
    },
  };
  return {
    id: 'test/model',
    language,
    price: null,
    contextWindow: 100_000,
    maxOutputTokens: 8_000,
    isScripted: false,
    limiterKey: `test-${newId()}`,
    calls,
    ...overrides,
  };
}

/** Parts of a turn with text and calls. Arguments that are a string go out as they are. */
export function turn(content: {
  text?: string;
  calls?: { id: string; tool: string; args: unknown }[];
  finish?: string;
  tokens?: [number, number];
}): LanguageModelV4StreamPart[] {
  const { text, calls = [], tokens = [100, 20] } = content;
  return [
    { type: 'stream-start', warnings: [] },
    ...(text === undefined
      ? []
      : ([
          { type: 'text-start', id: '0' },
          { type: 'text-delta', id: '0', delta: text },
          { type: 'text-end', id: '0' },
        ] as const)),
    ...calls.map(({ id, tool, args }) => ({
      type: 'tool-call' as const,
      toolCallId: id,
      toolName: tool,
      input: typeof args === 'string' ? args : JSON.stringify(args),
    })),
    {
      type: 'finish',
      finishReason: {
        unified: (content.finish ?? (calls.length > 0 ? 'tool-calls' : 'stop')) as 'stop',
        raw: undefined,
      },
      usage: {
        inputTokens: { total: tokens[0], noCache: tokens[0], cacheRead: 0, cacheWrite: 0 },
        outputTokens: { total: tokens[1], text: tokens[1], reasoning: 0 },
      },
    },
  ];
}

/** A whole engine on a real database, with one user, that runs tasks in this process when the test says so. */
export async function createRunHarness(options: {
  models?: Model[];
  /** Of sub-Vittos, where these are others. */
  subVittoModels?: Model[];
  tools?: Tool[];
  decide?: DecideCall;
  settings?: Partial<Settings>;
  guest?: GuestSession;
  guestNotices?: string[];
  /** All of the guests, instead of `guest`. */
  guests?: RunTaskDependencies['guests'];
  rootBudget?: Partial<RunDependencies['rootBudget']>;
  subVittos?: Partial<SubVittoLimits>;
}) {
  const limits = { ...SUB_VITTO_LIMITS, ...options.subVittos };
  const { database, url, drop } = await createTestDatabase();
  const userId = newId();
  await database.pool.query("insert into vitto_users (id, name, role) values ($1, 'Ana', 'owner')", [userId]);
  const woken: string[] = [];
  const readSettings = () => Promise.resolve(settings.parse(options.settings ?? {}));
  const signals = { journalGrew: () => undefined, taskSeized: () => Promise.resolve() };
  const runs: RunDependencies = {
    database,
    queue: { wake: (id) => Promise.resolve(void woken.push(id)), send: () => Promise.resolve() },
    signals,
    logger: silentLogger,
    rootBudget: {
      maxIterations: 50,
      maxTokens: 500_000,
      maxCostUsd: null,
      maxDurationMs: null,
      ...options.rootBudget,
    },
    maxSubVittos: limits.maxParallel,
    readSettings,
    checkModels: () => Promise.resolve(),
    resolveAllowedPaths: (paths) => Promise.resolve(paths),
    outcomes: createIdleOutcomes(database),
  };
  const secrets = createTestSecrets(database);
  const state = { models: options.models ?? [], subVittoModels: options.subVittoModels ?? null };
  const registry = new ToolRegistry([
    createCoreTools(() => Promise.reject(new Error('not in this test'))),
    createAgentTools(limits),
    { name: 'test', tools: options.tools ?? [] },
  ]);
  const tasks: RunTaskDependencies = {
    database,
    runs,
    signals,
    orchestrator: createTestOrchestrator(runs, limits),
    openRegistry: () => Promise.resolve(registry),
    listSkills: () => Promise.resolve([]),
    evaluateGate: (task) =>
      Promise.resolve(
        assembleContext(task, { now: Date.now(), tier: 'vm', degradedReason: null, startScore: 25 }),
      ),
    decide: options.decide ?? decideByRisk,
    resolveModels: (task) =>
      Promise.resolve((task.kind === 'subvitto' ? state.subVittoModels : null) ?? state.models),
    limiter: new ModelLimiter(systemClock),
    secrets,
    readSettings,
    guests: options.guests ?? {
      claim: () =>
        options.guest === undefined
          ? Promise.reject(new GuestError('unavailable', 'no sandbox in this test'))
          : Promise.resolve({
              kind: 'claimed',
              session: options.guest,
              vm: null,
              degradedReason: 'a test',
              notices: [...(options.guestNotices ?? [])],
            }),
      rest: () => Promise.resolve(),
      release: () => Promise.resolve(),
      suspend: () => Promise.resolve(),
      facts: () => Promise.resolve(null),
    },
    dailyLimitNano: null,
    clock: systemClock,
    logger: silentLogger,
    workerId: 'worker-1',
  };
  const never = { signal: new AbortController().signal, isDraining: () => false };
  return {
    database,
    url,
    drop,
    userId,
    runs,
    tasks,
    secrets,
    woken,
    setModels: (models: Model[]) => void (state.models = models),
    start: (text: string, more: Partial<Parameters<typeof createRun>[1]> = {}) =>
      createRun(runs, { userId, text, source: 'test', ...more }),
    say: (conversationId: string, text: string) =>
      sendMessage(runs, { userId, conversationId, text, source: 'test' }),
    run: (taskId: string, control: Parameters<typeof runTask>[2] = never, workerId = 'worker-1') =>
      runTask({ ...tasks, workerId }, taskId, control),
    conversation: async () => {
      const id = newId();
      await insertConversation(database.pool, { id, userId, title: '', allowedPaths: [] });
      return id;
    },
    events: (taskId: string): Promise<EventEnvelope[]> => readTaskEvents(database.pool, taskId, 0, 10_000),
    task: async (taskId: string): Promise<Task> => {
      const record = await findTask(database.pool, userId, taskId);
      if (record === null) throw new Error(`no task ${taskId}`);
      return toTask(record);
    },
  };
}
export type RunHarness = Awaited<ReturnType<typeof createRunHarness>>;

function withoutSignal({ abortSignal: _, ...rest }: LanguageModelV4CallOptions): LanguageModelV4CallOptions {
  return rest;
}
