import { duplexPair, type Duplex } from 'node:stream';
import type { EgressProxy } from '../egress-proxy.ts';

/** What a guest's program reads and writes, joined to the proxy as the agent's streams are. */
export function openStream(proxy: EgressProxy): Duplex {
  const [guest, host] = duplexPair();
  guest.on('error', () => undefined);
  proxy.accept(host);
  return guest;
}

/** Says something to the proxy as it is, and gives all that comes until the proxy ends the connection. */
export async function say(proxy: EgressProxy, text: string): Promise<string> {
  const guest = openStream(proxy);
  guest.write(Buffer.from(text, 'latin1'));
  return readAll(guest);
}

export async function readAll(guest: Duplex): Promise<string> {
  const chunks: Buffer[] = [];
  guest.on('data', (chunk: Buffer) => chunks.push(chunk));
  await new Promise<void>((resolve) => guest.once('close', resolve).once('end', resolve));
  return Buffer.concat(chunks).toString('latin1');
}

/** Reads until the text is there. */
export async function readUntil(guest: Duplex, wanted: string): Promise<string> {
  let text = '';
  for (;;) {
    const chunk = guest.read() as Buffer | null;
    if (chunk !== null) text += chunk.toString('latin1');
    if (text.includes(wanted)) return text;
    if (chunk === null) await new Promise((resolve) => guest.once('readable', resolve).once('end', resolve));
    if (guest.readableEnded) return text;
  }
}
