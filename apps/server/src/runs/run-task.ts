import {
  AttachmentReader,
  buildSystemPrompt,
  type ClaimedGuest,
  type DecideCall,
  type EvaluateGate,
  type GuestQuestion,
  type GuestRequest,
  isDegradationAllowed,
  listSubVittos,
  LostLease,
  type Model,
  type ModelLimiter,
  offerTools,
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
  type SubVittoOrchestratorService,
  type TaskRecord,
  type ToolRegistry,
  Transcript,
} from '../engine/index.ts';
import { GuestError, isEndState, type Failure, type Settings } from '@vitto/contracts';
import type { Secrets } from '../identity/index.ts';
import { AppError } from '../kernel/app-error.ts';
import type { Clock } from '../kernel/clock.ts';
import { isDatabaseAway, type Database } from '../kernel/database/database.ts';
import { whileAway } from '../kernel/database/while-away.ts';
import type { Logger } from '../kernel/logger.ts';
import type { SignalBus } from '../kernel/signal-bus.ts';
import { cancelRun } from './cancel-run.ts';
import { releaseHeldVm } from './held-vm.ts';
import type { RunDependencies } from './run-dependencies.ts';
import { letGo } from './sub-vittos/let-go.ts';
import { ProgressMirror } from './sub-vittos/mirror-progress.ts';
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
  /** Starting, ending and waking other tasks. */
  runs: RunDependencies;
  signals: Pick<SignalBus, 'journalGrew'>;
  orchestrator: SubVittoOrchestratorService;
  /** The tools that a task may use: the built-in ones and those that its user brings. Throws only on defects. */
  openRegistry: (task: TaskRecord) => Promise<ToolRegistry>;
  /** The user's skills that are switched on, by name: the system prompt lists them. */
  listSkills: (userId: string) => Promise<PromptFacts['skills']>;
  evaluateGate: EvaluateGate;
  decide: DecideCall;
  /** The task's models in order; throws AppError or ModelError when the list names what does not exist. */
  resolveModels: (task: Pick<TaskRecord, 'kind' | 'model'>, settings: Settings) => Promise<Model[]>;
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
  const task = await takeTask(deps.runs, taskId, deps.workerId);
  if (task === null) return null;
  control.onTaken?.();
  deps.signals.journalGrew(task.userId);
  return deps.secrets.masking(task.userId, () => runTaken(deps, task, control));
}

async function runTaken(deps: RunTaskDependencies, task: TaskRecord, control: RunControl): Promise<RunEnd> {
  const log = deps.logger.child({ taskId: task.id, userId: task.userId });
  const mirror = openMirror(deps, task, log);
  try {
    const waiting = { clock: deps.clock, logger: log, signal: control.signal };
    const run = await whileAway(() => prepareRun(deps, task, control, log, mirror), waiting);
    const end = await runLoop(run);
    const hasEnded = end.kind === 'completed' || end.kind === 'failed';
    await mirror?.finish(end.kind === 'parked' ? end.state : null);
    await (hasEnded ? deps.guests.release(task) : deps.guests.rest(task));
    log.info({ end: end.kind }, 'the run ended');
    return end;
  } catch (error) {
    await mirror?.finish(null);
    if (error instanceof LostLease || control.signal.aborted || isDatabaseAway(error)) throw error;
    return await failTask(deps, task, control, error, log);
  }
}

/** Tells a sub-Vitto's parent where it stands; `null` for a task that nobody deployed. */
function openMirror(deps: RunTaskDependencies, task: TaskRecord, logger: Logger): ProgressMirror | null {
  const { parentId } = task;
  if (parentId === null) return null;
  const onGrew = () => deps.signals.journalGrew(task.userId);
  return new ProgressMirror({ ...task, parentId }, { database: deps.database, logger, onGrew });
}

async function prepareRun(
  deps: RunTaskDependencies,
  task: TaskRecord,
  control: RunControl,
  logger: Logger,
  mirror: ProgressMirror | null,
): Promise<Run> {
  const settings = await deps.readSettings(task.userId);
  const [models, guest, registry, skills] = await Promise.all([
    deps.resolveModels(task, settings),
    deps.guests.facts(),
    deps.openRegistry(task),
    deps.listSkills(task.userId),
  ]);
  const offer = offerTools(
    registry,
    { depth: task.depth, tier: task.tier, role: task.role, named: task.tools },
    deps.orchestrator.limits,
  );
  const artifacts = openArtifacts(deps.database.pool, { userId: task.userId, taskId: task.id });
  const fold = { transcript: new Transcript(), state: new RunState(task.id) };
  const journal = openJournal(deps, task, control, logger, fold, mirror);
  const userLimit = settings.dailyCostUsd === null ? null : Math.round(settings.dailyCostUsd * 1e9);
  const run: Run = {
    task,
    ...fold,
    journal,
    deps: {
      registry,
      toolNames: offer.names,
      whyNot: offer.whyNot,
      orchestrator: deps.orchestrator,
      resolveSubVittoModels: () => deps.resolveModels({ kind: 'subvitto', model: task.model }, settings),
      stopSubVittos: (ids) => stopSubVittos(deps.runs, task, ids),
      evaluateGate: deps.evaluateGate,
      decide: deps.decide,
      models,
      limiter: deps.limiter,
      systemPrompt: buildSystemPrompt({
        allowedPaths: task.allowedPaths,
        guest: task.tier === 'in-process' ? null : guest,
        language: settings.language ?? 'en',
        skills: offer.names.includes('use_skill') ? skills : [],
        subVitto: task.kind === 'subvitto' ? { id: task.id, role: task.role, depth: task.depth } : null,
        mayDeploy: offer.names.includes('deploy_agents'),
      }),
      artifacts,
      claimGuest: (request) => claimGuest(deps, task, request),
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
    // Kept from an earlier run that waits for sub-Vittos: it is not reserved twice.
    headroom:
      task.ownReservedTokens === 0
        ? null
        : { tokens: task.ownReservedTokens, costNano: task.ownReservedCostNano },
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

/** The user is asked once for all that a task has deployed: what was agreed to since this run began counts as well. */
async function claimGuest(
  { database, guests }: RunTaskDependencies,
  task: TaskRecord,
  request: GuestRequest,
): Promise<ClaimedGuest | GuestQuestion> {
  if (task.kind === 'subvitto' && task.tier === 'in-process') {
    throw new GuestError('unavailable', 'this sub-Vitto works in-process, without a machine');
  }
  const isAgreed =
    request.degradation === null &&
    task.kind === 'subvitto' &&
    (await isDegradationAllowed(database.pool, task.rootId));
  return guests.claim(task, isAgreed ? { ...request, degradation: 'beforehand' } : request);
}

function openJournal(
  deps: RunTaskDependencies,
  task: TaskRecord,
  control: RunControl,
  logger: Logger,
  fold: { transcript: Transcript; state: RunState },
  mirror: ProgressMirror | null,
): PgTaskJournal {
  return new PgTaskJournal({
    database: deps.database,
    task: {
      id: task.id,
      userId: task.userId,
      parentId: task.parentId,
      fence: task.fence,
      lastSeq: task.seq,
    },
    clock: deps.clock,
    logger,
    signal: control.signal,
    fold: (event) => {
      fold.transcript.apply(event);
      fold.state.apply(event);
      mirror?.apply(event);
    },
    onGrew: () => deps.signals.journalGrew(task.userId),
    wake: (id, client) => deps.runs.queue.wake(id, client),
    onLetGo: (client, change) => letGo(deps.runs, client, task.id, change),
  });
}

async function stopSubVittos(
  runs: RunDependencies,
  parent: TaskRecord,
  ids: readonly string[],
): Promise<void> {
  const reason = 'the task that deployed it could not go on';
  for (const taskId of ids) await cancelRun(runs, { userId: parent.userId, taskId, by: 'vitto', reason });
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
  const journal = openJournal(deps, task, control, log, fold, null);
  const open = (await listSubVittos(deps.database.pool, task.id)).filter(({ state }) => !isEndState(state));
  await stopSubVittos(
    deps.runs,
    task,
    open.map(({ id }) => id),
  );
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
