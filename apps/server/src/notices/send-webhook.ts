import { Webhook } from 'standardwebhooks';
import { AppError } from '../kernel/app-error.ts';
import type { GuardedFetch } from '../kernel/network/guarded-fetch.ts';
import type { Attempt } from './webhook.store.ts';

/** Milliseconds that a receiver has to answer. */
const ANSWER_MS = 15_000;
/** Bytes of an answer that are read; what it says does not matter. */
const MAX_ANSWER = 64 * 1024;

export interface WebhookMessage {
  /** Receivers deduplicate by it. */
  id: string;
  url: string;
  /** `whsec_…` */
  secret: string;
  /** JSON, exactly these bytes are signed. */
  body: string;
}

/**
 * Sends one message, signed as Standard Webhooks say (`webhook-id`, `webhook-timestamp`, `webhook-signature`).
 * Redirects are not followed. Never throws for what the receiver or the network does.
 */
export async function sendWebhook(
  fetch: GuardedFetch,
  message: WebhookMessage,
  now: Date,
): Promise<Attempt & { isOk: boolean }> {
  const signature = new Webhook(message.secret).sign(message.id, now, message.body);
  try {
    const response = await fetch(message.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'Vitto-Webhooks',
        'webhook-id': message.id,
        'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
        'webhook-signature': signature,
      },
      body: message.body,
      totalMs: ANSWER_MS,
      maxBytes: MAX_ANSWER,
      redirects: 'return',
    });
    await response.discard();
    const { status } = response;
    const isOk = status >= 200 && status < 300;
    return { isOk, status, error: isOk ? null : explainStatus(status) };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { isOk: false, status: null, error: error.message };
  }
}

function explainStatus(status: number): string {
  if (status >= 300 && status < 400) return `It answered ${status}; redirects are not followed.`;
  return `It answered ${status}.`;
}
