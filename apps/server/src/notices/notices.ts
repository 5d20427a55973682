import { randomBytes } from 'node:crypto';
import type { createPushSubscription, NoticeEvent, Settings, Webhook, WebhookTest } from '@vitto/contracts';
import webPush from 'web-push';
import type { z } from 'zod';
import { AppError, notFound } from '../kernel/app-error.ts';
import type { Database } from '../kernel/database/database.ts';
import { inTransaction } from '../kernel/database/transaction.ts';
import { newId } from '../kernel/ids.ts';
import type { Logger } from '../kernel/logger.ts';
import type { GuardedFetch } from '../kernel/network/guarded-fetch.ts';
import type { Sending, WakeQueue } from '../kernel/queue.ts';
import type { SignalBus } from '../kernel/signal-bus.ts';
import type { Vault } from '../identity/index.ts';
import { fanOut, listNoticedUsers } from './fan-out.store.ts';
import { readNoticedEvent } from './noticed-event.store.ts';
import { toPushMessage, type PushMessage } from './push-message.ts';
import {
  deletePushSubscription,
  notePushed,
  putPushSubscription,
  readPushKeys,
  readPushTarget,
  type PushTarget,
} from './push-subscription.store.ts';
import { PUSH_QUEUE, WEBHOOK_QUEUE, type PushJob, type WebhookJob } from './queues.ts';
import { sendPush, type PushOutcome } from './send-push.ts';
import { sendWebhook } from './send-webhook.ts';
import {
  closeDelivery,
  countWebhooks,
  disableFailing,
  insertWebhook,
  noteAttempt,
  readPendingDelivery,
  readWebhookTarget,
  reopenDelivery,
  type WebhookTarget,
} from './webhook.store.ts';

/** Events of one user within this time are told together. */
const GATHER_MS = 200;
/** Whom there is to tell is read anew this often: another process may have been told of a new webhook. */
const REFRESH_MS = 30_000;
const CONCURRENCY = 4;
const MAX_WEBHOOKS = 20;

export interface NoticesDependencies {
  database: Database;
  queue: Pick<WakeQueue, 'openSending' | 'send' | 'workSending'>;
  signals: Pick<SignalBus, 'listen'>;
  vault: Vault;
  /** For URLs that this user named: the owner's may lie in the own network. */
  fetchFor: (userId: string) => Promise<GuardedFetch>;
  /** For push services: public addresses only. */
  fetchPublic: GuardedFetch;
  readSettings: (userId: string) => Promise<Settings>;
  /** Whom a push service may write to: an https or mailto address. */
  contact: string;
  logger: Logger;
}

/**
 * Tells webhooks and browsers what happens in a user's journal. It reads the journal from where each of them was
 * told last, so that nothing is lost when a process dies, and leaves the tries to the queue.
 */
export class Notices {
  readonly #deps: NoticesDependencies;
  #users = new Set<string>();
  readonly #waiting = new Map<string, NodeJS.Timeout>();
  readonly #running = new Map<string, Promise<void>>();
  #refresh: NodeJS.Timeout | undefined;
  #stopListening: (() => void) | null = null;
  #isStopped = false;

  constructor(deps: NoticesDependencies) {
    this.#deps = deps;
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
    await queue.workSending<WebhookJob>(WEBHOOK_QUEUE, CONCURRENCY, (job) => this.#deliver(job));
    await queue.workSending<PushJob>(PUSH_QUEUE, CONCURRENCY, (job) => this.#push(job));
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

  /** @returns the webhook with the secret that signs what it is sent. @throws AppError `webhook.too-many`. */
  async createWebhook(
    userId: string,
    request: { url: string; description: string; events: NoticeEvent[] },
  ): Promise<Webhook & { secret: string }> {
    const { database, vault } = this.#deps;
    if ((await countWebhooks(database.pool, userId)) >= MAX_WEBHOOKS) {
      throw new AppError('webhook.too-many', `There are ${MAX_WEBHOOKS} webhooks already.`, {
        status: 409,
        hint: 'Delete one that is not needed any more.',
      });
    }
    const id = newId();
    const secret = `whsec_${randomBytes(32).toString('base64')}`;
    const sealed = vault.seal(secret, webhookOf(id, userId));
    const webhook = await insertWebhook(database.pool, userId, { ...request, id, secret: sealed });
    this.#users.add(userId);
    return { ...webhook, secret };
  }

  /** Sends one message now, to see whether it arrives. @throws AppError `webhook.not-found`. */
  async testWebhook(userId: string, id: string): Promise<WebhookTest> {
    const target = await readWebhookTarget(this.#deps.database.pool, userId, id);
    const began = performance.now();
    const at = new Date();
    const body = JSON.stringify({
      type: 'webhook.test',
      timestamp: at.toISOString(),
      data: { webhookId: id },
    });
    const { isOk, status, error } = await this.#send(target, newId(), body, at);
    return { isOk, status, error, durationMs: Math.round(performance.now() - began) };
  }

  /** Tries a delivery again that was given up. @throws AppError `delivery.not-found`. */
  retryDelivery(userId: string, webhookId: string, deliveryId: string) {
    const { database, queue } = this.#deps;
    return inTransaction(database, async (client) => {
      const delivery = await reopenDelivery(client, userId, webhookId, deliveryId);
      await queue.send(WEBHOOK_QUEUE, [{ deliveryId } satisfies WebhookJob], client);
      return delivery;
    });
  }

  async #deliver({ data, isLast }: Sending<WebhookJob>): Promise<void> {
    const sql = this.#deps.database.pool;
    const pending = await readPendingDelivery(sql, data.deliveryId);
    if (pending === null) return closeDelivery(sql, data.deliveryId);
    const { target, body } = pending;
    const attempt = await this.#send(target, data.deliveryId, body, new Date()).catch(toFailedAttempt);
    const isGone = attempt.status === 410;
    if (attempt.isOk) return noteAttempt(sql, data.deliveryId, attempt, 'delivered');
    await noteAttempt(sql, data.deliveryId, attempt, isLast || isGone ? 'failed' : 'pending');
    if (isLast || isGone) return disableFailing(sql, target.id, isGone);
    throw new Error(attempt.error ?? 'the delivery failed');
  }

  async #send(target: WebhookTarget, id: string, body: string, at: Date) {
    const secret = this.#deps.vault.open(target.secret, webhookOf(target.id, target.userId));
    const fetch = await this.#deps.fetchFor(target.userId);
    return sendWebhook(fetch, { id, url: target.url, secret, body }, at);
  }

  /** What a browser needs to subscribe. */
  async readPushKey(): Promise<string> {
    return (await this.#readPushKeys()).publicKey;
  }

  async putPushSubscription(
    userId: string,
    subscription: z.infer<typeof createPushSubscription>,
    browser: string,
  ) {
    const { database, vault } = this.#deps;
    const { endpoint, keys } = subscription;
    const sealed = vault.seal(JSON.stringify(keys), subscriptionOf(endpoint));
    const kept = await putPushSubscription(database.pool, userId, {
      id: newId(),
      endpoint,
      browser,
      keys: sealed,
    });
    this.#users.add(userId);
    return kept;
  }

  /** Sends a message now. @throws AppError `push-subscription.not-found`, `push.failed`. */
  async testPush(userId: string, id: string, message: PushMessage): Promise<void> {
    const target = await readPushTarget(this.#deps.database.pool, userId, id);
    if (target === null) throw notFound('push-subscription');
    const outcome = await this.#sendPush(target, message);
    if (outcome === 'gone') await deletePushSubscription(this.#deps.database.pool, userId, id);
    if (outcome === 'sent') return;
    throw new AppError(
      'push.failed',
      outcome === 'gone' ? 'This browser has unsubscribed; it is removed.' : `Not sent: ${outcome.failed}.`,
      { status: 502, hint: 'Switch notifications off and on again in that browser.' },
    );
  }

  async #push({ data, isLast }: Sending<PushJob>): Promise<void> {
    const { database, readSettings } = this.#deps;
    const target = await readPushTarget(database.pool, data.userId, data.subscriptionId);
    const noticed = await readNoticedEvent(database.pool, data.userId, data.taskId, data.seq);
    if (target === null || noticed === null) return;
    const { language } = await readSettings(data.userId);
    const outcome = await this.#sendPush(target, toPushMessage(noticed, language));
    if (outcome === 'gone') {
      await deletePushSubscription(database.pool, data.userId, data.subscriptionId);
    } else if (outcome === 'sent') {
      await notePushed(database.pool, target.id);
    } else if (isLast) {
      this.#deps.logger.warn({ reason: outcome.failed }, 'gave up a push message');
    } else {
      throw new Error(outcome.failed);
    }
  }

  async #sendPush(target: PushTarget, message: PushMessage): Promise<PushOutcome> {
    const { vault, contact, fetchPublic } = this.#deps;
    const keys = JSON.parse(vault.open(target.keys, subscriptionOf(target.endpoint))) as {
      p256dh: string;
      auth: string;
    };
    const vapid = { ...(await this.#readPushKeys()), subject: contact };
    return sendPush(fetchPublic, { endpoint: target.endpoint, keys }, message, vapid);
  }

  #readPushKeys() {
    const { database, vault } = this.#deps;
    return readPushKeys(database.pool, vault, () => webPush.generateVAPIDKeys());
  }
}

/** Also what keeps a delivery from being made at all (its secret cannot be opened) is told to people. */
function toFailedAttempt(error: unknown) {
  if (!(error instanceof AppError)) throw error;
  return { isOk: false, status: null, error: error.message };
}

/** What a sealed value belongs to: it opens nowhere else. */
const webhookOf = (id: string, userId: string) => `webhook:${id}:${userId}`;
const subscriptionOf = (endpoint: string) => `push:${endpoint}`;
