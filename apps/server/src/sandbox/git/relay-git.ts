import { Transform, type Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
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
 * Joins a guest's git to the program on the server until that has ended.
 * @throws GitRefusal when it did not end well or a limit was reached: with what the server said of it.
 */
export async function relayGit(
  guest: Duplex,
  session: GitSession,
  request: GitRequest,
  limits: RelayLimits,
): Promise<void> {
  const { channel, close } = session;
  const limit = new AbortController();
  const stop = (why: string) => limit.abort(new GitRefusal(why));
  const total = setTimeout(() => stop('it took longer than it may'), limits.totalMs);
  const idle = setTimeout(() => stop('the server and git were silent for too long'), limits.idleMs);
  const count = () => countBytes(limits.maxBytes, () => idle.refresh());
  const stderr = keepEnd(channel.stderr);
  const exit = new Promise<number | null>((resolve) => {
    channel.once('exit', (code: number | null) => resolve(code));
    channel.once('close', () => resolve(null));
  });
  // A program that ends early reads no more; how it ended says more than the pipe that broke.
  const sending = pipeline(guest, count(), channel, { signal: limit.signal }).catch(() => undefined);
  try {
    await pipeline(channel, count(), guest, { signal: limit.signal, end: false });
    const code = await exit;
    if (code !== 0) throw new GitRefusal(describeEnd(request, code, stderr()));
    guest.end();
  } catch (error) {
    if (limit.signal.aborted) throw limit.signal.reason;
    throw error instanceof GitRefusal ? error : new GitRefusal('the connection broke off');
  } finally {
    clearTimeout(total);
    clearTimeout(idle);
    close();
    await sending;
  }
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

function countBytes(most: number, onBytes: () => void): Transform {
  let total = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      onBytes();
      total += chunk.length;
      if (total > most) done(new GitRefusal('it is larger than it may be'));
      else done(null, chunk);
    },
  });
}
