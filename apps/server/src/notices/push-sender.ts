import type { createPushSubscription, Settings } from '@vitto/contracts';
import webPush from 'web-push';
import type { z } from 'zod';
import { AppError, notFound } from '../kernel/app-error.ts';
import type { Database } from '../kernel/database/database.ts';
import { newId } from '../kernel/ids.ts';
import type { Logger } from '../kernel/logger.ts';
import type { GuardedFetch } from '../kernel/network/guarded-fetch.ts';
import type { Sending } from '../kernel/queue.ts';
import type { Vault } from '../identity/index.ts';
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
import type { PushJob } from './queues.ts';
import { sendPush, type PushOutcome } from './send-push.ts';

export interface PushSenderDependencies {
  database: Database;
  vault: Vault;
  /** For push services: public addresses only. */
  fetchPublic: GuardedFetch;
  readSettings: (userId: string) => Promise<Settings>;
  /** Whom a push service may write to: an https or mailto address. */
  contact: string;
  logger: Logger;
}

/** Keeps the browsers that want to be called, and calls them. */
export class PushSender {
  readonly #deps: PushSenderDependencies;

  constructor(deps: PushSenderDependencies) {
    this.#deps = deps;
  }

  /** What a browser needs to subscribe. */
  async readKey(): Promise<string> {
    return (await this.#readKeys()).publicKey;
  }

  /** Keeps a browser's subscription. */
  subscribe(userId: string, subscription: z.infer<typeof createPushSubscription>, browser: string) {
    const { database, vault } = this.#deps;
    const { endpoint, keys } = subscription;
    const sealed = vault.seal(JSON.stringify(keys), subscriptionOf(endpoint));
    return putPushSubscription(database.pool, userId, {
      id: newId(),
      endpoint,
      browser,
      keys: sealed,
    });
  }

  /** Sends a message now. @throws AppError `push-subscription.not-found`, `push.failed`. */
  async test(userId: string, id: string, message: PushMessage): Promise<void> {
    const target = await readPushTarget(this.#deps.database.pool, userId, id);
    if (target === null) throw notFound('push-subscription');
    const outcome = await this.#send(target, message);
    if (outcome === 'gone') await deletePushSubscription(this.#deps.database.pool, userId, id);
    if (outcome === 'sent') return;
    throw new AppError(
      'push.failed',
      outcome === 'gone' ? 'This browser has unsubscribed; it is removed.' : `Not sent: ${outcome.failed}.`,
      { status: 502, hint: 'Switch notifications off and on again in that browser.' },
    );
  }

  /** Makes one try of a message. Throws when another shall follow. */
  async push({ data, isLast }: Sending<PushJob>): Promise<void> {
    const { database, readSettings } = this.#deps;
    const target = await readPushTarget(database.pool, data.userId, data.subscriptionId);
    const noticed = await readNoticedEvent(database.pool, data.userId, data.taskId, data.seq);
    if (target === null || noticed === null) return;
    const { language } = await readSettings(data.userId);
    const outcome = await this.#send(target, toPushMessage(noticed, language));
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

  async #send(target: PushTarget, message: PushMessage): Promise<PushOutcome> {
    const { vault, contact, fetchPublic } = this.#deps;
    const keys = JSON.parse(vault.open(target.keys, subscriptionOf(target.endpoint))) as {
      p256dh: string;
      auth: string;
    };
    const vapid = { ...(await this.#readKeys()), subject: contact };
    return sendPush(fetchPublic, { endpoint: target.endpoint, keys }, message, vapid);
  }

  #readKeys() {
    const { database, vault } = this.#deps;
    return readPushKeys(database.pool, vault, () => webPush.generateVAPIDKeys());
  }
}

/** What sealed keys belong to: they open nowhere else. */
export const subscriptionOf = (endpoint: string) => `push:${endpoint}`;
