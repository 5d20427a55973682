import { PgBoss, type JobWithMetadata } from 'pg-boss';
import type { Logger } from './logger.ts';

/** Anything that runs SQL in a caller's transaction. */
interface SqlClient {
  query: (text: string, values: unknown[]) => Promise<{ rows: unknown[] }>;
}

const RUN_QUEUE = 'vitto-run';
/** How often what goes out to others is tried again: for about eleven hours, with growing pauses. */
const SEND_RETRIES = { retryLimit: 12, retryDelay: 10, retryBackoff: true, retryDelayMax: 6 * 3600 };
/** A message that is under way for longer than this was lost with its process. */
const SEND_SECONDS = 60;

/** One try of something that goes out. */
export interface Sending<T> {
  data: T;
  /** No other try follows this one. */
  isLast: boolean;
}

/**
 * The durable queue on the same database. A job only wakes a worker for a task: which worker owns the task, and
 * whether it still does, is decided by the task's lease alone. A job that is lost is sent again by a worker's sweep.
 */
export class WakeQueue {
  readonly #boss: PgBoss;

  constructor(options: { url: string; logger: Logger; isWorker: boolean }) {
    this.#boss = new PgBoss({
      connectionString: options.url,
      application_name: 'vitto-queue',
      schema: 'vitto_queue',
      max: options.isWorker ? 6 : 2,
      useListenNotify: options.isWorker,
      schedule: false,
      supervise: options.isWorker,
      superviseIntervalSeconds: 30,
      monitorIntervalSeconds: 30,
    });
    this.#boss.on('error', (error) =>
      options.logger.warn({ err: error }, 'the queue has a fault; it goes on by itself'),
    );
  }

  async start(): Promise<void> {
    await this.#boss.start();
    // `short`: at most one job a task waits; a second wake-up while one is under way is kept.
    await this.#boss.createQueue(RUN_QUEUE, {
      policy: 'short',
      notify: true,
      retryLimit: 0,
      expireInSeconds: 23 * 3600,
      retentionSeconds: 24 * 3600,
      deleteAfterSeconds: 600,
    });
  }

  /** Asks for a worker for the task, in the caller's transaction when `client` is given. */
  async wake(taskId: string, client?: SqlClient): Promise<void> {
    await this.#boss.send(
      RUN_QUEUE,
      { taskId },
      {
        singletonKey: taskId,
        ...(client === undefined
          ? {}
          : { db: { executeSql: (text: string, values?: unknown[]) => client.query(text, values ?? []) } }),
      },
    );
  }

  /** Runs `handler` for each wake-up, at most `concurrency` at once in this process. It must not throw. */
  async work(concurrency: number, handler: (taskId: string) => Promise<void>): Promise<void> {
    for (let slot = 0; slot < concurrency; slot += 1) await this.#openSlot(handler);
  }

  /** A slot of its own, because only a worker whose id is known can be told to fetch again. */
  async #openSlot(handler: (taskId: string) => Promise<void>): Promise<void> {
    let id: string | null = null;
    id = await this.#boss.work<{ taskId: string }>(
      RUN_QUEUE,
      { batchSize: 1, pollingIntervalSeconds: 1, notifyPollingIntervalSeconds: 1 },
      async (jobs) => {
        try {
          for (const job of jobs) await handler(job.data.taskId);
        } finally {
          // Fetch on at once until the queue is empty: else each job is followed by a pause of the polling interval.
          if (id !== null) this.#boss.notifyWorker(id);
        }
      },
    );
  }

  /** Stops taking jobs; jobs under way are the caller's to end. */
  async stopWork(): Promise<void> {
    await this.#boss.offWork(RUN_QUEUE, { wait: false });
  }

  /** Opens a queue of what goes out to others: each job is tried until it is done or its tries are used up. */
  async openSending(name: string, retries: Partial<typeof SEND_RETRIES> = {}): Promise<void> {
    await this.#boss.createQueue(name, {
      ...SEND_RETRIES,
      ...retries,
      expireInSeconds: SEND_SECONDS,
      retentionSeconds: 48 * 3600,
      deleteAfterSeconds: 600,
    });
  }

  /** Adds jobs in the caller's transaction: they exist if and only if it commits. */
  async send(name: string, jobs: readonly object[], client: SqlClient): Promise<void> {
    if (jobs.length === 0) return;
    await this.#boss.insert(
      name,
      jobs.map((data) => ({ data })),
      { db: { executeSql: (text: string, values?: unknown[]) => client.query(text, values ?? []) } },
    );
  }

  /** Hands each job to `handler`; when it throws, the job is tried again later. */
  async workSending<T extends object>(
    name: string,
    concurrency: number,
    handler: (sending: Sending<T>) => Promise<void>,
  ): Promise<void> {
    await this.#boss.work(
      name,
      { batchSize: 1, localConcurrency: concurrency, pollingIntervalSeconds: 1, includeMetadata: true },
      async (jobs: JobWithMetadata<T>[]) => {
        for (const job of jobs) await handler({ data: job.data, isLast: job.retryCount >= job.retryLimit });
      },
    );
  }

  async stop(): Promise<void> {
    await this.#boss.stop({ graceful: false, close: true });
  }
}
