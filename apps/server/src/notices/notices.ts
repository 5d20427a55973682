import type { Logger } from '../kernel/logger.ts';
import type { Database } from '../kernel/database/database.ts';
import type { WakeQueue } from '../kernel/queue.ts';
import type { SignalBus } from '../kernel/signal-bus.ts';
import { fanOut, listNoticedUsers } from './fan-out.store.ts';
import { PushSender, type PushSenderDependencies } from './push-sender.ts';
import { PUSH_QUEUE, WEBHOOK_QUEUE, type PushJob, type WebhookJob } from './queues.ts';
import { WebhookSender, type WebhookSenderDependencies } from './webhook-sender.ts';

/** Events of one user within this time are told together. */
const GATHER_MS = 200;
/** Whom there is to tell is read anew this often: another process may have been told of a new webhook. */
const REFRESH_MS = 30_000;
const CONCURRENCY = 4;

export interface NoticesDependencies extends WebhookSenderDependencies, PushSenderDependencies {
  database: Database;
  queue: Pick<WakeQueue, 'openSending' | 'send' | 'workSending'>;
  signals: Pick<SignalBus, 'listen'>;
  logger: Logger;
}

/**
 * Tells webhooks and browsers what happens in a user's journal. It reads the journal from where each of them was
 * told last, so that nothing is lost when a process dies, and leaves the tries to the queue.
 */
export class Notices {
  readonly webhooks: WebhookSender;
  readonly push: PushSender;
  readonly #deps: NoticesDependencies;
  #users = new Set<string>();
  readonly #waiting = new Map<string, NodeJS.Timeout>();
  readonly #running = new Map<string, Promise<void>>();
  #refresh: NodeJS.Timeout | undefined;
  #stopListening: (() => void) | null = null;
  #isStopped = false;

  constructor(deps: NoticesDependencies) {
    this.#deps = deps;
    this.webhooks = new WebhookSender(deps);
    this.push = new PushSender(deps);
  }

  async start(): Promise<void> {
    const { queue, signals } = this.#deps;
    await queue.openSending(WEBHOOK_QUEUE);
    await queue.openSending(PUSH_QUEUE);
    this.#stopListening = signals.listen((signal) => {
      if (signal.kind === 'journal') this.#note(signal.userId);
      if (signal.kind === 'reconnected') void this.refresh();
    });
    await this.refresh();
    this.#refresh = setInterval(() => void this.refresh(), REFRESH_MS);
    await queue.workSending<WebhookJob>(WEBHOOK_QUEUE, CONCURRENCY, (job) => this.webhooks.deliver(job));
    await queue.workSending<PushJob>(PUSH_QUEUE, CONCURRENCY, (job) => this.push.push(job));
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#refresh);
    this.#stopListening?.();
    for (const timer of this.#waiting.values()) clearTimeout(timer);
    await Promise.all(this.#running.values());
  }

  /** Reads anew whom there is to tell, and tells what has not been told. Never throws. */
  async refresh(): Promise<void> {
    try {
      this.#users = new Set(await listNoticedUsers(this.#deps.database.pool));
      for (const userId of this.#users) this.#note(userId);
    } catch (error) {
      this.#deps.logger.warn({ err: error }, 'could not read whom there is to notify; trying again');
    }
  }

  #note(userId: string): void {
    if (this.#isStopped || !this.#users.has(userId) || this.#waiting.has(userId)) return;
    const timer = setTimeout(() => {
      this.#waiting.delete(userId);
      const before = this.#running.get(userId) ?? Promise.resolve();
      const running = before.then(() => this.#fanOut(userId));
      this.#running.set(userId, running);
      void running.then(() => {
        if (this.#running.get(userId) === running) this.#running.delete(userId);
      });
    }, GATHER_MS);
    this.#waiting.set(userId, timer);
  }

  async #fanOut(userId: string): Promise<void> {
    try {
      while (!this.#isStopped && (await fanOut(this.#deps, userId)));
    } catch (error) {
      this.#deps.logger.warn(
        { err: error, userId },
        'could not make deliveries; they are made at the next look',
      );
    }
  }
}
