import {
  findForgottenTasks,
  findLostLeases,
  LostLease,
  RENEW_EVERY_MS,
  renewLeases,
} from '../engine/index.ts';
import { isDatabaseAway } from '../kernel/database/database.ts';
import { whileAway } from '../kernel/database/while-away.ts';
import type { SignalBus } from '../kernel/signal-bus.ts';
import type { WakeQueue } from '../kernel/queue.ts';
import { expireApprovals, settleAnsweredQuestions, wakeTasksForVm } from './decide-approval.ts';
import { giveTaskBack } from './give-task-back.ts';
import { runTask, type RunTaskDependencies } from './run-task.ts';

const SWEEP_EVERY_MS = 2_000;
/** How long a database that is away is waited for to give a task back. */
const GIVE_BACK_MS = 5_000;
/** Running tasks get this long to reach a step boundary when the worker stops. */
const DRAIN_MS = 10_000;

/** Why a run was stopped from outside. */
export class RunStopped extends Error {
  override readonly cause: 'seized' | 'lease-lost' | 'shutdown';
  constructor(cause: 'seized' | 'lease-lost' | 'shutdown') {
    super(`the run was stopped: ${cause}`);
    this.name = 'RunStopped';
    this.cause = cause;
  }
}

interface ActiveRun {
  taskId: string;
  controller: AbortController;
  /** This process owns the task: there is a lease to renew. */
  isTaken: boolean;
  ended: Promise<void>;
}

export interface WorkerDependencies extends RunTaskDependencies {
  queue: Pick<WakeQueue, 'work' | 'stopWork' | 'wake'>;
  bus: Pick<SignalBus, 'listen'>;
  /** Tasks that run at once in this process. */
  concurrency: number;
  /** Removes what tasks that have ended left in the guests. */
  sweepGuests: () => Promise<void>;
  /** Whether a VM (of this image; `null`: of any that serves) could be had now, as far as is known without starting one. */
  canHaveVm: (template: string | null) => Promise<boolean>;
}

/** Runs the tasks of the queue in this process: keeps their leases, stops what was taken away, finds what was forgotten. */
export class Worker {
  readonly #deps: WorkerDependencies;
  readonly #active = new Set<ActiveRun>();
  #renewal: NodeJS.Timeout | undefined;
  #sweeping: NodeJS.Timeout | undefined;
  #stopListening: (() => void) | null = null;
  #isDraining = false;

  constructor(deps: WorkerDependencies) {
    this.#deps = deps;
  }

  /** How many tasks run here now. */
  get activeCount(): number {
    return this.#active.size;
  }

  async start(): Promise<void> {
    this.#stopListening = this.#deps.bus.listen((signal) => {
      if (signal.kind === 'task-seized') this.#stopRun(signal.taskId, 'seized');
      if (signal.kind === 'reconnected') this.#tryTo(() => this.#renew());
    });
    this.#renewal = this.#every(RENEW_EVERY_MS, () => this.#renew());
    this.#sweeping = this.#every(SWEEP_EVERY_MS, () => this.#sweep());
    await this.#deps.queue.work(this.#deps.concurrency, (taskId) => this.#run(taskId));
    await this.#sweep();
  }

  /** Lets running tasks reach a step boundary, stops those that do not in time, and gives all of them back to the queue. */
  async stop(): Promise<void> {
    this.#isDraining = true;
    clearInterval(this.#sweeping);
    await this.#deps.queue.stopWork();
    const all = Promise.all([...this.#active].map((run) => run.ended));
    let timer: NodeJS.Timeout | undefined;
    const isLate = await Promise.race([
      all.then(() => false),
      new Promise<true>((resolve) => {
        timer = setTimeout(() => resolve(true), DRAIN_MS);
      }),
    ]);
    clearTimeout(timer);
    if (isLate) for (const run of this.#active) run.controller.abort(new RunStopped('shutdown'));
    // Leases are kept until every run has come to its end.
    await all;
    clearInterval(this.#renewal);
    this.#stopListening?.();
  }

  async #run(taskId: string): Promise<void> {
    if (this.#isDraining) return;
    const controller = new AbortController();
    const run: ActiveRun = { taskId, controller, isTaken: false, ended: Promise.resolve() };
    run.ended = this.#guard(taskId, controller, () => {
      run.isTaken = true;
    });
    this.#active.add(run);
    await run.ended;
    this.#active.delete(run);
  }

  async #guard(taskId: string, controller: AbortController, onTaken: () => void): Promise<void> {
    const { logger } = this.#deps;
    const control = { signal: controller.signal, isDraining: () => this.#isDraining, onTaken };
    try {
      await runTask(this.#deps, taskId, control);
    } catch (error) {
      const cause = controller.signal.reason instanceof RunStopped ? controller.signal.reason.cause : null;
      if (cause === 'shutdown') await this.#giveBack(taskId);
      else if (cause !== null || error instanceof LostLease) await this.#leave(taskId);
      else if (isDatabaseAway(error)) {
        logger.warn({ taskId }, 'the database is away; the task will be taken up again');
        await this.#giveBack(taskId);
      } else logger.error({ err: error, taskId }, 'a run ended in a defect; the task will be taken up again');
    } finally {
      // Whatever is still at work for it (a call beside the one that failed) stops now.
      controller.abort(new RunStopped('lease-lost'));
    }
  }

  /** Somebody else has the task now, or it was cancelled: nothing of it goes on here. */
  async #leave(taskId: string): Promise<void> {
    this.#deps.logger.info({ taskId }, 'the task was taken from this worker');
    await this.#clearGuest(taskId).catch((error: unknown) => {
      this.#deps.logger.warn({ err: error, taskId }, 'could not clear the guest of a task');
    });
  }

  async #giveBack(taskId: string): Promise<void> {
    const { clock, logger } = this.#deps;
    const signal = AbortSignal.timeout(GIVE_BACK_MS);
    await whileAway(() => giveTaskBack(this.#deps, taskId), { clock, logger, signal }).catch(
      (error: unknown) => {
        logger.warn({ err: error, taskId }, 'could not give the task back; its lease will run out');
      },
    );
  }

  async #clearGuest(taskId: string): Promise<void> {
    await this.#deps.guests.suspend(taskId);
    await this.#deps.sweepGuests();
  }

  #stopRun(taskId: string, cause: 'seized' | 'lease-lost'): void {
    for (const run of this.#active) if (run.taskId === taskId) run.controller.abort(new RunStopped(cause));
  }

  async #renew(): Promise<void> {
    const ids = [...new Set([...this.#active].filter((run) => run.isTaken).map((run) => run.taskId))];
    if (ids.length === 0) return;
    const held = await renewLeases(this.#deps.database.pool, this.#deps.workerId, ids);
    const missing = ids.filter((id) => !held.has(id));
    if (missing.length === 0) return;
    // A run that has just ended has no lease either: only what somebody else has is stopped.
    const { database, workerId } = this.#deps;
    for (const id of await findLostLeases(database.pool, workerId, missing)) this.#stopRun(id, 'lease-lost');
  }

  async #sweep(): Promise<void> {
    const here = new Set([...this.#active].map((run) => run.taskId));
    for (const id of await findForgottenTasks(this.#deps.database.pool, this.#deps.runs.maxSubVittos)) {
      if (!here.has(id)) await this.#deps.queue.wake(id);
    }
    await expireApprovals(this.#deps.runs);
    await settleAnsweredQuestions(this.#deps.runs);
    await wakeTasksForVm(this.#deps.runs, this.#deps.canHaveVm);
  }

  #every(ms: number, work: () => Promise<void>): NodeJS.Timeout {
    let isBusy = false;
    return setInterval(() => {
      if (isBusy) return;
      isBusy = true;
      this.#tryTo(work, () => {
        isBusy = false;
      });
    }, ms);
  }

  #tryTo(work: () => Promise<void>, done: () => void = () => undefined): void {
    work()
      .catch((error: unknown) => {
        if (!isDatabaseAway(error)) this.#deps.logger.error({ err: error }, 'a duty of the worker failed');
      })
      .finally(done);
  }
}
