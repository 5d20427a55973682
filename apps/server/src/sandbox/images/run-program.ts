import { spawn } from 'node:child_process';
import { AppError } from '../../kernel/app-error.ts';
import { explainFailure } from './explain-failure.ts';

const KEPT_OUTPUT = 16_384;
const GRACE_MS = 5_000;

/** Where programs run: what of the environment they get, and what ends them. */
export interface ProgramSurroundings {
  environment: Readonly<Record<string, string>>;
  signal?: AbortSignal | undefined;
  /** Every line that a program prints, for whoever wants to read along. */
  onLine?: ((line: string) => void) | undefined;
}

/**
 * Runs a program by its arguments, nothing on its stdin unless `stdin` is given, and gives what it printed on stdout.
 * It ends when this process does, whatever ends that; on the signal it is ended and waited for.
 * @throws AppError by `explainFailure`; `image.cancelled` after the signal.
 */
export async function runProgram(
  command: readonly string[],
  surroundings: ProgramSurroundings,
  options: { cwd?: string; stdin?: Uint8Array; onLine?: (line: string) => void; endsHard?: boolean } = {},
): Promise<string> {
  const { signal } = surroundings;
  if (isAborted(signal)) throw cancelled();
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', '--', ...command], {
    cwd: options.cwd ?? '/',
    env: { ...surroundings.environment },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const output = collectOutput(child, (line) => {
    surroundings.onLine?.(line);
    options.onLine?.(line);
  });
  // A program that does not read what it was given ends with a reason of its own.
  child.stdin.on('error', () => undefined);
  child.stdin.end(options.stdin);
  const stop = endOnSignal(child, signal, options.endsHard === true);
  try {
    const exit = await new Promise<string>((resolve) => {
      child.once('error', (error) => resolve(error.message));
      child.once('close', (code, name) => resolve(code === null ? `ended by ${name}` : `exit code ${code}`));
    });
    if (isAborted(signal)) throw cancelled();
    if (exit !== 'exit code 0') throw explainFailure(command[0] ?? '', exit, output.last());
    return output.stdout();
  } finally {
    stop();
  }
}

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

export function cancelled(): AppError {
  return new AppError('image.cancelled', 'The build was cancelled.', { status: 409 });
}

type Child = ReturnType<typeof spawn>;

function collectOutput(child: Child, onLine: (line: string) => void) {
  let stdout = '';
  let last = '';
  const follow = (stream: NodeJS.ReadableStream | null, keep: (text: string) => void) => {
    let line = '';
    stream?.setEncoding('utf8');
    stream?.on('data', (text: string) => {
      keep(text);
      last = (last + text).slice(-KEPT_OUTPUT);
      const lines = (line + text).split(/[\r\n]/);
      line = (lines.pop() ?? '').slice(-KEPT_OUTPUT);
      for (const one of lines) if (one !== '') onLine(one);
    });
  };
  follow(child.stdout, (text) => (stdout = (stdout + text).slice(-KEPT_OUTPUT)));
  follow(child.stderr, () => undefined);
  return { stdout: () => stdout, last: () => last };
}

/** Asks the program to end and, after a grace, ends it. `isHard`: at once (what it started ends with it). */
function endOnSignal(child: Child, signal: AbortSignal | undefined, isHard: boolean): () => void {
  let timer: NodeJS.Timeout | undefined;
  const end = () => {
    child.kill(isHard ? 'SIGKILL' : 'SIGTERM');
    timer = setTimeout(() => child.kill('SIGKILL'), GRACE_MS);
  };
  signal?.addEventListener('abort', end, { once: true });
  return () => {
    clearTimeout(timer);
    signal?.removeEventListener('abort', end);
  };
}
