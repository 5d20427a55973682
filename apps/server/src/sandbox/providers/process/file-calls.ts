import { GuestError, type GuestErrorCode } from '@vitto/contracts';
import { MAX_FILE_BYTES } from '../../guest/command-checks.ts';
import type { FileCall, FileRequest } from './guest/file-server.ts';
import type { RunningSandbox } from './running-sandbox.ts';

const MiB = 1024 * 1024;
/** Longer than any page of names or matches; what is longer is a defect or a forgery. */
const MAX_HEAD_BYTES = 16 * MiB;

/** Sends one call to a file server that was just started in the sandbox and reads its answer. */
export async function askFileServer<Head extends object>(
  sandbox: RunningSandbox,
  roots: FileRequest['roots'],
  call: FileCall,
  options: { content?: Buffer; timeoutMs: number; signal?: AbortSignal | undefined },
): Promise<{ head: Head; body: Buffer }> {
  const kill = (): void => sandbox.kill();
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    kill();
  }, options.timeoutMs);
  if (options.signal?.aborted === true) kill();
  options.signal?.addEventListener('abort', kill, { once: true });
  try {
    const answer = collect(sandbox);
    // A server that has gone does not read; its end tells why.
    sandbox.stdin?.on('error', () => undefined);
    sandbox.stdin?.write(`${JSON.stringify({ roots: escapeRoots(roots), call } satisfies FileRequest)}\n`);
    sandbox.stdin?.end(options.content ?? '');
    const [{ bytes, complaint }, end] = await Promise.all([answer, sandbox.ended]);
    options.signal?.throwIfAborted();
    if (timedOut)
      throw new GuestError('timed-out', `The file call took longer than ${options.timeoutMs} ms.`);
    if (end.limit === 'cpu') throw new GuestError('timed-out', 'The file call used up its processor time.');
    if (end.limit === 'memory')
      throw new GuestError('too-large', 'The file call needed more memory than the sandbox has.');
    return parseAnswer<Head>(bytes, complaint);
  } finally {
    clearTimeout(timer);
    options.signal?.removeEventListener('abort', kill);
  }
}

/** Roots are plain host paths; the guest reads `\xNN` in paths as bytes. */
function escapeRoots({ home, writable, readable }: FileRequest['roots']): FileRequest['roots'] {
  const escape = (path: string): string => path.replaceAll('\\', '\\x5c');
  return { home: escape(home), writable: writable.map(escape), readable: readable.map(escape) };
}

async function collect(sandbox: RunningSandbox): Promise<{ bytes: Buffer; complaint: string }> {
  const chunks: Buffer[] = [];
  let size = 0;
  let complaint = '';
  sandbox.stderr.on('error', () => undefined);
  sandbox.stderr.on('data', (chunk: Buffer) => {
    if (complaint.length < 2000) complaint += chunk.toString('utf8');
  });
  for await (const chunk of sandbox.stdout as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_FILE_BYTES + MAX_HEAD_BYTES) sandbox.kill();
    else chunks.push(chunk);
  }
  return { bytes: Buffer.concat(chunks), complaint };
}

function parseAnswer<Head extends object>(bytes: Buffer, complaint: string): { head: Head; body: Buffer } {
  const cut = bytes.indexOf(0x0a);
  if (cut === -1) {
    const reason = complaint.trim().split('\n')[0] ?? '';
    throw new GuestError(
      'unavailable',
      `The sandbox's file server gave no answer: ${reason || 'it was ended'}`,
      'Run `npm run vitto -- doctor`.',
    );
  }
  const head = JSON.parse(bytes.subarray(0, cut).toString('utf8')) as
    ({ ok: true } & Head) | { ok: false; code: GuestErrorCode; message: string; hint?: string };
  if (!head.ok) throw new GuestError(head.code, head.message, head.hint);
  return { head, body: bytes.subarray(cut + 1) };
}
