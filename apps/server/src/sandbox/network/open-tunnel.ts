import { pipeline } from 'node:stream/promises';
import type { Duplex } from 'node:stream';
import type { Socket } from 'node:net';
import { bodyOf, type ProxyRefusal } from './proxy-refusal.ts';

/** Joins a CONNECT that was let through to its host. Settles when both directions have ended; never rejects. */
export async function openTunnel(guest: Duplex, head: Buffer, upstream: Socket): Promise<void> {
  try {
    guest.write('HTTP/1.1 200 Connection established\r\n\r\n');
    if (head.length > 0) upstream.write(head);
    await pipeline(guest, upstream, guest);
  } catch {
    // A side that broke off is the end of both; there is nobody to tell.
  } finally {
    guest.destroy();
    upstream.destroy();
  }
}

/** What a guest may take to read why, in milliseconds. */
const LINGER_MS = 10_000;

/** Answers a CONNECT that is refused, and ends the connection: at the latest after `mostMs`, whatever the guest does. */
export function refuseTunnel(guest: Duplex, refusal: ProxyRefusal, mostMs: number): void {
  guest.on('error', () => undefined);
  const body = bodyOf(refusal);
  guest.end(
    [
      `HTTP/1.1 ${refusal.status} ${refusal.reason}`,
      'Content-Type: text/plain; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  );
  // What the guest still sends is read and dropped, so that it reads the answer.
  guest.resume();
  const timer = setTimeout(() => guest.destroy(), Math.min(mostMs, LINGER_MS));
  timer.unref();
  guest.once('close', () => clearTimeout(timer));
}
