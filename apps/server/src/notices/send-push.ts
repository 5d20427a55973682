import webPush from 'web-push';
import { AppError } from '../kernel/app-error.ts';
import type { GuardedFetch } from '../kernel/network/guarded-fetch.ts';
import type { PushMessage } from './push-message.ts';

/** Seconds that a push service keeps a message for a browser that is away. */
const KEEP_SECONDS = 4 * 3600;

/** A browser's endpoint, and the keys that its messages are encrypted with. */
export interface PushBrowser {
  endpoint: string;
  keys: { p256dh: string; auth: string };
}

export interface VapidKeys {
  publicKey: string;
  privateKey: string;
  /** Whom a push service may write to: an https or mailto address (RFC 8292). */
  subject: string;
}

/** `gone`: the browser has unsubscribed. `failed`: another try may help. */
export type PushOutcome = 'sent' | 'gone' | { failed: string };

/** Encrypts a message for a browser (RFC 8291) and hands it to its push service. Never throws for what that does. */
export async function sendPush(
  fetch: GuardedFetch,
  browser: PushBrowser,
  message: PushMessage,
  vapid: VapidKeys,
): Promise<PushOutcome> {
  const request = webPush.generateRequestDetails(browser, JSON.stringify(message), {
    vapidDetails: vapid,
    TTL: KEEP_SECONDS,
    urgency: message.isUrgent ? 'high' : 'normal',
  });
  try {
    const response = await fetch(request.endpoint, {
      method: 'POST',
      headers: toPlainHeaders(request.headers),
      body: new Uint8Array(request.body),
      redirects: 'return',
    });
    await response.discard();
    if (response.status === 404 || response.status === 410) return 'gone';
    if (response.status >= 200 && response.status < 300) return 'sent';
    return { failed: `the push service answered ${response.status}` };
  } catch (error) {
    if (error instanceof AppError) return { failed: error.message };
    throw error;
  }
}

/** The length is the client's to say. */
function toPlainHeaders(headers: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => name.toLowerCase() !== 'content-length')
      .map(([name, value]) => [name, String(value)]),
  );
}
