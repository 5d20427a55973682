import { Transform, type Duplex } from 'node:stream';
import { GitRefusal, plain, type GitRequest } from './git-request.ts';
import type { GitSession } from './open-git-session.ts';

export interface RelayLimits {
  totalMs: number;
  /** Without a byte in either direction. */
  idleMs: number;
  /** In each direction. */
  maxBytes: number;
}

const STDERR_KEPT = 2_000;

/**
 * Joins a guest's git to the program on the server until that has ended. On a refusal the guest's stream is left open:
 * the reason is still to be said on it.
 * @throws GitRefusal when it did not end well or a limit was reached: with what the server said of it.
 */
export async function relayGit(
  guest: Duplex,
  session: GitSession,
  request: GitRequest,
  limits: RelayLimits,
): Promise<void> {
  const { channel, close } = session;
  const { promise: received, resolve } = Promise.withResolvers<void>();
  const { promise: stopped, reject } = Promise.withResolvers<never>();
  const stop = (why: string) => reject(new GitRefusal(why));
  const total = setTimeout(() => stop('it took longer than it may'), limits.totalMs);
  const idle = setTimeout(() => stop('the server and git were silent for too long'), limits.idleMs);
  const count = () => countBytes(limits.maxBytes, () => idle.refresh(), stop);
  const stderr = keepEnd(channel.stderr);
  const exit = readExit(channel);
  guest.once('close', () => stop('git in the machine has ended'));
  channel.on('error', () => stop('the connection broke off'));
  // Not a pipeline: that would end the guest's stream with a failure of the other side, before its reason is known.
  guest.pipe(count()).pipe(channel);
  channel.pipe(count().once('end', resolve)).pipe(guest, { end: false });
  try {
    await Promise.race([received, stopped]);
    // A server that says all and never how it ended is held to the limits too.
    const code = await Promise.race([exit, stopped]);
    if (code !== 0) throw new GitRefusal(describeEnd(request, code, stderr()));
    guest.end();
  } finally {
    clearTimeout(total);
    clearTimeout(idle);
    guest.unpipe();
    close();
  }
}

function readExit(channel: GitSession['channel']): Promise<number | null> {
  return new Promise((resolve) => {
    channel.once('exit', (code: number | null) => resolve(code));
    channel.once('close', () => resolve(null));
  });
}

function describeEnd({ verb }: GitRequest, code: number | null, said: string): string {
  const end = code === null ? 'broke off' : `ended with ${code}`;
  return said === '' ? `${verb} ${end} on the server` : said;
}

function keepEnd(stream: NodeJS.ReadableStream): () => string {
  let text = '';
  stream.on('data', (chunk: Buffer) => {
    text = (text + chunk.toString('utf8')).slice(-STDERR_KEPT);
  });
  return () => text.split('\n').map(plain).join('\n').trim();
}

function countBytes(most: number, onBytes: () => void, stop: (why: string) => void): Transform {
  let total = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      onBytes();
      total += chunk.length;
      // What is too much goes no further, and nothing after it does.
      if (total > most) stop('it is larger than it may be');
      else done(null, chunk);
    },
  });
}
