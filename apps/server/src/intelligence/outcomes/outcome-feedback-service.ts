import type { Outcome, VerdictSource } from '@vitto/contracts';
import { AppError, notFound } from '../../kernel/app-error.ts';
import type { Database, SqlClient } from '../../kernel/database/database.ts';
import { inTransaction } from '../../kernel/database/transaction.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { Sending, WakeQueue } from '../../kernel/queue.ts';
import { changesVerdict } from './changes-verdict.ts';
import { clearTitlesOf, findUnreportedOf } from './conversation-outcomes.store.ts';
import {
  findUnreported,
  readEndedTask,
  readFirstModel,
  readRanTools,
  readWasChecked,
  type EndedTask,
} from './ended-task.store.ts';
import { inferDomain } from './infer-domain.ts';
import {
  findOutcome,
  insertOutcome,
  lockOutcome,
  lockTelling,
  updateVerdict,
  type OwnedOutcome,
} from './outcome.store.ts';
import { NEWS_QUEUE, OUTCOME_QUEUE, OUTCOME_RETRIES, type NewsJob, type OutcomeJob } from './queues.ts';

/** What a subscriber is told. */
export interface OutcomeNews {
  userId: string;
  /** As it stands now. */
  outcome: Outcome;
  /** As it was before the change; null: the task has just been reported. */
  previous: Outcome | null;
}

export type OutcomeHandler = (news: OutcomeNews) => Promise<void>;

export interface OutcomeFeedbackDependencies {
  database: Database;
  queue: Pick<WakeQueue, 'openSending' | 'send' | 'workSending'>;
  logger: Logger;
}

/** Reports, and subscribers that are told, at once in a process. A telling holds a connection while it runs. */
const CONCURRENCY = 2;
/** Ends that a sweep reads at once. */
const SWEEP_BATCH = 200;

/** Keeps what became of each task that has ended, and tells those that learn from it. */
export class OutcomeFeedbackService {
  readonly #deps: OutcomeFeedbackDependencies;
  readonly #subscribers = new Map<string, OutcomeHandler>();
  #sweeping: Promise<unknown> = Promise.resolve();
  #isStopped = false;

  constructor(deps: OutcomeFeedbackDependencies) {
    this.#deps = deps;
  }

  /**
   * Has `handler` told of each new outcome and each change of a verdict, in a worker. Every process subscribes the same
   * names before it starts: the one that makes a change says who is to be told of it.
   *
   * At least once: a handler must be idempotent by the outcome's task id, and one that throws is told again later (for
   * more than a day) while the others go on. What it gets is the outcome as it stands then, and never two of a task at
   * once: what it was told last of a task is the newest, even when an earlier telling is made up for.
   */
  subscribe(name: string, handler: OutcomeHandler): void {
    if (this.#subscribers.has(name)) throw new Error(`two subscribers of outcomes are named ${name}`);
    this.#subscribers.set(name, handler);
  }

  /** Opens the queues; in every process that ends tasks or takes verdicts. */
  async start(): Promise<void> {
    await this.#deps.queue.openSending(OUTCOME_QUEUE, OUTCOME_RETRIES);
    await this.#deps.queue.openSending(NEWS_QUEUE, OUTCOME_RETRIES);
  }

  /** Reports and tells in this process from now on, and looks once for ends that were never reported. */
  async work(): Promise<void> {
    const { queue, logger } = this.#deps;
    await queue.workSending<OutcomeJob>(OUTCOME_QUEUE, CONCURRENCY, async (job) => {
      await this.#try(job, 'an outcome was not reported', { taskId: job.data.taskId }, () =>
        this.report(job.data.taskId),
      );
    });
    await queue.workSending<NewsJob>(NEWS_QUEUE, CONCURRENCY, async (job) => {
      const { subscriber, taskId } = job.data;
      await this.#try(job, 'a subscriber was not told of an outcome', { subscriber, taskId }, () =>
        this.#tell(job.data),
      );
    });
    this.#sweeping = this.sweep().catch((error: unknown) => {
      logger.warn({ err: error }, 'could not look for ends without an outcome; the next start does');
    });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#sweeping;
  }

  /**
   * Keeps the outcome of a task that has ended and has subscribers told; however often it is called, it counts once.
   *
   * Success is what the task says of its own end: completed and of success. Its verdict is therefore of source `self`,
   * also that of a task that failed or was cancelled; of source `check` when its acceptance check has passed. That somebody stopped it is no word on its work (they may have
   * changed their mind), so it is not taken for the user's; `end` says that it was stopped.
   * @returns `null` when there is no such task, or it has not ended.
   */
  report(taskId: string): Promise<Outcome | null> {
    return inTransaction(this.#deps.database, async (client) => {
      const task = await readEndedTask(client, taskId);
      if (task === null || task === 'open') return null;
      return (await this.#keep(client, task)).outcome;
    });
  }

  /**
   * Before a conversation is deleted with its tasks: reports what has ended in it and was not reported yet, and takes
   * off the titles. What became of the tasks is kept; what people wrote is not.
   */
  async detachConversation(conversationId: string): Promise<void> {
    const { pool } = this.#deps.database;
    for (const taskId of await findUnreportedOf(pool, conversationId)) await this.report(taskId);
    await clearTitlesOf(pool, conversationId);
  }

  /**
   * Takes a later word on a task that has ended: the user's stands over a check's, that over its own; of equals the
   * newest stands. A weaker one changes nothing.
   * @returns the outcome as it stands then.
   * @throws AppError `outcome.not-found`; `task.not-ended` (409).
   */
  giveVerdict(word: {
    userId: string;
    taskId: string;
    success: boolean;
    source: VerdictSource;
  }): Promise<Outcome> {
    return inTransaction(this.#deps.database, async (client) => {
      const old = await this.#lockOwn(client, word.userId, word.taskId);
      if (!changesVerdict(old.outcome, word)) return old.outcome;
      const changed = await updateVerdict(client, word.taskId, word);
      await this.#queueNews(client, word.taskId, old.outcome);
      return changed.outcome;
    });
  }

  /**
   * Reports the ends of the last 30 days that have no outcome: those of a database from before there were any.
   * @returns how many were reported.
   */
  async sweep(): Promise<number> {
    const { database, logger } = this.#deps;
    let reported = 0;
    let found = await findUnreported(database.pool, null, SWEEP_BATCH);
    while (found.length > 0) {
      for (const { taskId } of found) {
        if (this.#isStopped) return reported;
        try {
          if ((await this.report(taskId)) !== null) reported += 1;
        } catch (error) {
          logger.warn({ err: error, taskId }, 'an outcome was not reported; the next start tries again');
        }
      }
      found = await findUnreported(database.pool, found.at(-1) ?? null, SWEEP_BATCH);
    }
    if (reported > 0) logger.info({ reported }, 'reported the outcomes of tasks that had none');
    return reported;
  }

  async #keep(client: SqlClient, task: EndedTask): Promise<OwnedOutcome> {
    const tools = await readRanTools(client, task.taskId);
    const inserted = await insertOutcome(client, task, {
      domain: inferDomain(tools, task.success),
      toolsUsed: [...new Set(tools.filter((one) => one.hasWorked).map((one) => one.tool))],
      model: await readFirstModel(client, task.taskId),
      verdictSource: task.success && (await readWasChecked(client, task.taskId)) ? 'check' : 'self',
    });
    if (inserted !== null) {
      await this.#queueNews(client, task.taskId, null);
      return inserted;
    }
    const kept = await findOutcome(client, task.taskId);
    if (kept === null)
      throw new Error(`the outcome of task ${task.taskId} was deleted while it was reported`);
    return kept;
  }

  /** The user's outcome, locked. One that is just on its way is reported here: who saw the end may judge it. */
  async #lockOwn(client: SqlClient, userId: string, taskId: string): Promise<OwnedOutcome> {
    const found = await lockOutcome(client, userId, taskId);
    if (found !== null) return found;
    const task = await readEndedTask(client, taskId, userId);
    if (task === null) throw notFound('outcome');
    if (task === 'open') throw notEnded();
    await this.#keep(client, task);
    const kept = await lockOutcome(client, userId, taskId);
    if (kept === null) throw notFound('outcome');
    return kept;
  }

  async #queueNews(client: SqlClient, taskId: string, previous: Outcome | null): Promise<void> {
    const jobs: NewsJob[] = [...this.#subscribers.keys()].map((subscriber) => ({
      subscriber,
      taskId,
      previous,
    }));
    await this.#deps.queue.send(NEWS_QUEUE, jobs, client);
  }

  async #tell({ subscriber, taskId, previous }: NewsJob): Promise<void> {
    const handler = this.#subscribers.get(subscriber);
    if (handler === undefined) throw new Error('this process has no such subscriber');
    await inTransaction(this.#deps.database, async (client) => {
      await lockTelling(client, subscriber, taskId);
      const found = await findOutcome(client, taskId);
      // Gone with its user: there is nobody left to learn for.
      if (found !== null) await handler({ ...found, previous });
    });
  }

  async #try(
    job: Sending<object>,
    message: string,
    facts: Record<string, string>,
    work: () => Promise<unknown>,
  ): Promise<void> {
    try {
      await work();
    } catch (error) {
      const { logger } = this.#deps;
      if (job.isLast) logger.error({ err: error, ...facts }, `${message}; given up`);
      else logger.warn({ err: error, ...facts }, `${message}; trying again`);
      throw error;
    }
  }
}

function notEnded(): AppError {
  return new AppError('task.not-ended', 'This task has not ended: there is nothing to judge yet.', {
    status: 409,
    hint: 'Wait for its end, or cancel it.',
  });
}
