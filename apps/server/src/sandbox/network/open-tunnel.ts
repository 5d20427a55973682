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

/** Answers a CONNECT that is refused, and ends the connection. */
export function refuseTunnel(guest: Duplex, refusal: ProxyRefusal): void {
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
}
