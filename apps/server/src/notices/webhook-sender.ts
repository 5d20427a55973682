import { randomBytes } from 'node:crypto';
import type { NoticeEvent, Webhook, WebhookTest } from '@vitto/contracts';
import { AppError } from '../kernel/app-error.ts';
import type { Database, Sql } from '../kernel/database/database.ts';
import { inTransaction } from '../kernel/database/transaction.ts';
import { newId } from '../kernel/ids.ts';
import type { GuardedFetch } from '../kernel/network/guarded-fetch.ts';
import type { Sending, WakeQueue } from '../kernel/queue.ts';
import type { Vault } from '../identity/index.ts';
import { WEBHOOK_QUEUE, type WebhookJob } from './queues.ts';
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

const MAX_WEBHOOKS = 20;

export interface WebhookSenderDependencies {
  database: Database;
  queue: Pick<WakeQueue, 'send'>;
  vault: Vault;
  /** For URLs that this user named: the owner's may lie in the own network. */
  fetchFor: (userId: string) => Promise<GuardedFetch>;
  /** Tells the audit trail that a webhook was switched off because it fails, in that transaction. */
  recordDisabled: (sql: Sql, webhookId: string, reason: string) => Promise<void>;
}

/** Makes webhooks and sends to them. */
export class WebhookSender {
  readonly #deps: WebhookSenderDependencies;

  constructor(deps: WebhookSenderDependencies) {
    this.#deps = deps;
  }

  /** @returns the webhook with the secret that signs what it is sent. @throws AppError `webhook.too-many`. */
  async create(
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
    return { ...webhook, secret };
  }

  /** Sends one message now, to see whether it arrives. @throws AppError `webhook.not-found`. */
  async test(userId: string, id: string): Promise<WebhookTest> {
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
  retry(userId: string, webhookId: string, deliveryId: string) {
    const { database, queue } = this.#deps;
    return inTransaction(database, async (client) => {
      const delivery = await reopenDelivery(client, userId, webhookId, deliveryId);
      await queue.send(WEBHOOK_QUEUE, [{ deliveryId } satisfies WebhookJob], client);
      return delivery;
    });
  }

  /** Makes one try of a delivery. Throws when another shall follow. */
  async deliver({ data, isLast }: Sending<WebhookJob>): Promise<void> {
    const sql = this.#deps.database.pool;
    const pending = await readPendingDelivery(sql, data.deliveryId);
    if (pending === null) return closeDelivery(sql, data.deliveryId);
    const { target, body } = pending;
    const attempt = await this.#send(target, data.deliveryId, body, new Date()).catch(toFailedAttempt);
    const isGone = attempt.status === 410;
    if (attempt.isOk) return noteAttempt(sql, data.deliveryId, attempt, 'delivered');
    await noteAttempt(sql, data.deliveryId, attempt, isLast || isGone ? 'failed' : 'pending');
    if (isLast || isGone) return this.#disableFailing(target.id, isGone);
    throw new Error(attempt.error ?? 'the delivery failed');
  }

  #disableFailing(id: string, isGone: boolean): Promise<void> {
    const { database, recordDisabled } = this.#deps;
    return inTransaction(database, async (client) => {
      const reason = await disableFailing(client, id, isGone);
      if (reason !== null) await recordDisabled(client, id, reason);
    });
  }

  async #send(target: WebhookTarget, id: string, body: string, at: Date) {
    const secret = this.#deps.vault.open(target.secret, webhookOf(target.id, target.userId));
    const fetch = await this.#deps.fetchFor(target.userId);
    return sendWebhook(fetch, { id, url: target.url, secret, body }, at);
  }
}

/** Also what keeps a delivery from being made at all (its secret cannot be opened) is told to people. */
function toFailedAttempt(error: unknown) {
  if (!(error instanceof AppError)) throw error;
  return { isOk: false, status: null, error: error.message };
}

/** What a sealed secret belongs to: it opens nowhere else. */
export const webhookOf = (id: string, userId: string) => `webhook:${id}:${userId}`;
