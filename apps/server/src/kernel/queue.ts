import { PgBoss } from 'pg-boss';
import type { Logger } from './logger.ts';

/** Anything that runs SQL in a caller's transaction. */
interface SqlClient {
  query: (text: string, values: unknown[]) => Promise<{ rows: unknown[] }>;
}

const RUN_QUEUE = 'vitto-run';

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

  async stop(): Promise<void> {
    await this.#boss.stop({ graceful: false, close: true });
  }
}
