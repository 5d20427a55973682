import { spawn } from 'node:child_process';
import { cancelled } from './run-program.ts';

/**
 * Runs `work` while nobody else on this machine holds the lock file, in whatever process: the lock is the operating
 * system's (flock), held by a program that ends when this process does, so it is never left behind.
 * `onWait` is told once when somebody else holds it.
 */
export async function withFileLock<T>(
  file: string,
  options: { signal?: AbortSignal | undefined; onWait?: (() => void) | undefined },
  work: () => Promise<T>,
): Promise<T> {
  const release =
    (await takeLock(file, ['--nonblock'], options.signal)) ?? (await waitForLock(file, options));
  try {
    return await work();
  } finally {
    await release();
  }
}

/**
 * Takes the lock file for as long as this process lives, or until what comes back is called; waits a little for a
 * process that is just ending. `null`: another one has it.
 */
export async function holdFileLock(file: string, waitMs: number): Promise<(() => Promise<void>) | null> {
  const release = await takeLock(file, ['--nonblock'], undefined);
  if (release !== null) return release;
  return takeLock(file, ['--timeout', String(waitMs / 1000)], undefined);
}

async function waitForLock(
  file: string,
  options: { signal?: AbortSignal | undefined; onWait?: (() => void) | undefined },
): Promise<() => Promise<void>> {
  options.onWait?.();
  const release = await takeLock(file, [], options.signal);
  if (release === null) throw new Error(`the lock ${file} could not be taken`);
  return release;
}

/** `null` when it is taken. `cat` gives back the first byte once flock has become it, and ends with our end of the pipe. */
function takeLock(
  file: string,
  flags: string[],
  signal: AbortSignal | undefined,
): Promise<(() => Promise<void>) | null> {
  if (signal?.aborted === true) return Promise.reject(cancelled());
  const command = ['--pdeathsig', 'KILL', '--', 'flock', '--no-fork', ...flags, file, 'cat'];
  const child = spawn('setpriv', command, { stdio: ['pipe', 'pipe', 'ignore'] });
  child.stdin.on('error', () => undefined);
  child.stdin.write('.');
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const release = async () => {
    child.stdin.end();
    await ended;
  };
  return new Promise((resolve, reject) => {
    const giveUp = () => {
      child.kill('SIGKILL');
      reject(cancelled());
    };
    signal?.addEventListener('abort', giveUp, { once: true });
    const settle = (settled: () => void) => {
      signal?.removeEventListener('abort', giveUp);
      settled();
    };
    child.once('error', (error) => settle(() => reject(error)));
    child.stdout.once('data', () => settle(() => resolve(release)));
    child.once('close', (code) =>
      settle(() => (code === 1 ? resolve(null) : reject(new Error(`flock ended with ${code}`)))),
    );
  });
}
