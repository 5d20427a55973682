import {
  AttachmentReader,
  buildSystemPrompt,
  type ClaimedGuest,
  type DecideCall,
  type EvaluateGate,
  type GuestQuestion,
  type GuestRequest,
  LostLease,
  type Model,
  type ModelLimiter,
  openArtifacts,
  PgTaskJournal,
  type PromptFacts,
  readCompactedThrough,
  readContextEvents,
  readStateEvents,
  type Run,
  type RunEnd,
  runLoop,
  RunState,
  type TaskRecord,
  type ToolRegistry,
  Transcript,
} from '../engine/index.ts';
import type { Failure, Settings } from '@vitto/contracts';
import type { Secrets } from '../identity/index.ts';
import { AppError } from '../kernel/app-error.ts';
import type { Clock } from '../kernel/clock.ts';
import { isDatabaseAway, type Database } from '../kernel/database/database.ts';
import { whileAway } from '../kernel/database/while-away.ts';
import type { Logger } from '../kernel/logger.ts';
import type { SignalBus } from '../kernel/signal-bus.ts';
import { releaseHeldVm } from './held-vm.ts';
import { takeTask } from './take-task.ts';

/** Where the commands of tasks run. Nothing of it throws but `claim`. */
export interface TaskGuests {
  /** @throws GuestError `unavailable`, LostLease. */
  claim: (task: TaskRecord, request: GuestRequest) => Promise<ClaimedGuest | GuestQuestion>;
  /** The task waits or goes to another worker: its claim on a VM is let go, what the process sandbox holds is kept. */
  rest: (task: TaskRecord) => Promise<void>;
  /** The task has ended: nothing of it stays. */
  release: (task: TaskRecord) => Promise<void>;
  /** The task was taken from this worker: what runs here for it ends, files are kept. */
  suspend: (taskId: string) => Promise<void>;
  facts: () => Promise<PromptFacts['guest']>;
}

/** What running tasks needs; the same for all tasks of a worker. */
export interface RunTaskDependencies {
  database: Database;
  signals: Pick<SignalBus, 'journalGrew'>;
  /** The tools that a task may use: the built-in ones and those that its user brings. Throws only on defects. */
  openRegistry: (task: TaskRecord) => Promise<ToolRegistry>;
  /** The user's skills that are switched on, by name: the system prompt lists them. */
  listSkills: (userId: string) => Promise<PromptFacts['skills']>;
  evaluateGate: EvaluateGate;
  decide: DecideCall;
  /** The task's models in order; throws AppError or ModelError when the list names what does not exist. */
  resolveModels: (task: TaskRecord, settings: Settings) => Promise<Model[]>;
  limiter: ModelLimiter;
  secrets: Pick<Secrets, 'fill' | 'masking'>;
  readSettings: (userId: string) => Promise<Settings>;
  guests: TaskGuests;
  /** A money cap a user's day, in billionths of a dollar; the user's own may be lower. */
  dailyLimitNano: number | null;
  clock: Clock;
  logger: Logger;
  workerId: string;
}

export interface RunControl {
  signal: AbortSignal;
  isDraining: () => boolean;
  /** Called once the task is this worker's. */
  onTaken?: () => void;
}

/**
 * Runs a task that a wake-up named until it parks, ends or is lost. Never throws for what a task may do; when it is
 * not to be had (somebody else runs it, it has ended), it does nothing.
 */
export async function runTask(
  deps: RunTaskDependencies,
  taskId: string,
  control: RunControl,
): Promise<RunEnd | null> {
  const task = await takeTask(deps.database, taskId, deps.workerId);
  if (task === null) return null;
  control.onTaken?.();
  deps.signals.journalGrew(task.userId);
  return deps.secrets.masking(task.userId, () => runTaken(deps, task, control));
}

async function runTaken(deps: RunTaskDependencies, task: TaskRecord, control: RunControl): Promise<RunEnd> {
  const log = deps.logger.child({ taskId: task.id, userId: task.userId });
  try {
    const waiting = { clock: deps.clock, logger: log, signal: control.signal };
    const run = await whileAway(() => prepareRun(deps, task, control, log), waiting);
    const end = await runLoop(run);
    const hasEnded = end.kind === 'completed' || end.kind === 'failed';
    await (hasEnded ? deps.guests.release(task) : deps.guests.rest(task));
    log.info({ end: end.kind }, 'the run ended');
    return end;
  } catch (error) {
    if (error instanceof LostLease || control.signal.aborted || isDatabaseAway(error)) throw error;
    return await failTask(deps, task, control, error, log);
  }
}

async function prepareRun(
  deps: RunTaskDependencies,
  task: TaskRecord,
  control: RunControl,
  logger: Logger,
): Promise<Run> {
  const settings = await deps.readSettings(task.userId);
  const [models, guest, registry, skills] = await Promise.all([
    deps.resolveModels(task, settings),
    deps.guests.facts(),
    deps.openRegistry(task),
    deps.listSkills(task.userId),
  ]);
  const artifacts = openArtifacts(deps.database.pool, { userId: task.userId, taskId: task.id });
  const prompt = { allowedPaths: task.allowedPaths, guest, language: settings.language ?? 'en', skills };
  const fold = { transcript: new Transcript(), state: new RunState(task.id) };
  const journal = openJournal(deps, task, control, logger, fold);
  const userLimit = settings.dailyCostUsd === null ? null : Math.round(settings.dailyCostUsd * 1e9);
  const run: Run = {
    task,
    ...fold,
    journal,
    deps: {
      registry,
      toolNames: registry.names,
      evaluateGate: deps.evaluateGate,
      decide: deps.decide,
      models,
      limiter: deps.limiter,
      systemPrompt: buildSystemPrompt(prompt),
      artifacts,
      claimGuest: (request) => deps.guests.claim(task, request),
      restGuest: () => deps.guests.rest(task),
      fillSecrets: (value) => deps.secrets.fill(task.userId, value),
      clock: deps.clock,
      logger,
      timeZone: settings.timeZone,
      dailyLimitNano: lower(deps.dailyLimitNano, userLimit),
    },
    signal: control.signal,
    isDraining: control.isDraining,
    gate: null,
    headroom: null,
    spent: { tokens: task.tokens, costNano: task.costNano },
    isCostKnown: task.isCostKnown,
    startedAt: deps.clock.monotonic(),
    guest: null,
    guestUsedAt: 0,
    attachments: new AttachmentReader(artifacts.read),
    reload: async () => {
      const waiting = { clock: deps.clock, logger, signal: control.signal };
      fold.transcript = await whileAway(() => loadTranscript(deps.database, task), waiting);
      run.transcript = fold.transcript;
    },
  };
  fold.transcript = run.transcript = await loadTranscript(deps.database, task);
  await loadState(deps.database, task, fold.state);
  return run;
}

function openJournal(
  deps: RunTaskDependencies,
  task: TaskRecord,
  control: RunControl,
  logger: Logger,
  fold: { transcript: Transcript; state: RunState },
): PgTaskJournal {
  return new PgTaskJournal({
    database: deps.database,
    task: { id: task.id, userId: task.userId, fence: task.fence, lastSeq: task.seq },
    clock: deps.clock,
    logger,
    signal: control.signal,
    fold: (event) => {
      fold.transcript.apply(event);
      fold.state.apply(event);
    },
    onGrew: () => deps.signals.journalGrew(task.userId),
  });
}

const PAGE = 2_000;

async function loadTranscript(database: Database, task: TaskRecord): Promise<Transcript> {
  const transcript = new Transcript();
  const { conversationId } = task;
  if (conversationId === null) {
    const read = (after: number) => readStateEvents(database.pool, task.id, after, PAGE);
    for await (const event of pages(read, 'seq')) transcript.apply(event);
    return transcript;
  }
  const from = await readCompactedThrough(database.pool, conversationId);
  const read = (after: number) => readContextEvents(database.pool, conversationId, after, PAGE);
  for await (const event of pages(read, 'position', from)) transcript.apply(event);
  return transcript;
}

async function loadState(database: Database, task: TaskRecord, state: RunState): Promise<void> {
  const read = (after: number) => readStateEvents(database.pool, task.id, after, PAGE);
  for await (const event of pages(read, 'seq')) state.apply(event);
}

async function* pages<T extends Record<K, number>, K extends string>(
  read: (after: number) => Promise<T[]>,
  key: K,
  from = 0,
): AsyncGenerator<T> {
  for (let after = from; ;) {
    const page = await read(after);
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    after = last[key];
  }
}

/** Ends a task that cannot run: a bad model list, or a defect, which is logged and not shown. */
async function failTask(
  deps: RunTaskDependencies,
  task: TaskRecord,
  control: RunControl,
  error: unknown,
  log: Logger,
): Promise<RunEnd> {
  const failure = toFailure(error);
  if (failure.code === 'internal') log.error({ err: error }, 'a task met a defect');
  // Read anew what has been written since: the fence still holds, or the next write says that it is lost.
  const fold = { transcript: new Transcript(), state: new RunState(task.id) };
  const journal = openJournal(deps, task, control, log, fold);
  journal.stage(await releaseHeldVm(deps.database.pool, task.id));
  await journal.fail(failure);
  await deps.guests.release(task);
  return { kind: 'failed', error: failure };
}

function toFailure(error: unknown): Failure {
  if (error instanceof AppError) {
    const { code, message, hint } = error;
    return { code, message, ...(hint === undefined ? {} : { hint }) };
  }
  return {
    code: 'internal',
    message: 'Vitto met a defect of its own and stopped this task.',
    hint: 'What was done so far is in the journal. The log has the details; please report it.',
  };
}

function lower(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.min(a, b);
}
