import { spawn, spawnSync, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../main.ts', import.meta.url));

/** A bound for a test that would else hang, not a measure. */
const SEES_WITHIN_MS = 30_000;

export interface Finished {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** A running `vitto`, as a person or a script has it. */
export class RunningVitto {
  stdout = '';
  stderr = '';
  readonly child: ChildProcessWithoutNullStreams;
  readonly finished: Promise<Finished>;
  #listeners = new Set<() => void>();

  constructor(child: ChildProcessWithoutNullStreams) {
    this.child = child;
    child.stdout.setEncoding('utf8').on('data', (data: string) => this.#hear(() => (this.stdout += data)));
    child.stderr.setEncoding('utf8').on('data', (data: string) => this.#hear(() => (this.stderr += data)));
    this.finished = new Promise((resolve) =>
      child.on('close', (code) => {
        this.#hear(() => {});
        resolve({ code, stdout: this.stdout, stderr: this.stderr });
      }),
    );
  }

  /** Waits until a text has been written to either side; rejects when the process ends without it. */
  async sees(text: string): Promise<void> {
    const deadline = AbortSignal.timeout(SEES_WITHIN_MS);
    while (!`${this.stdout}\n${this.stderr}`.includes(text)) {
      if (this.child.exitCode !== null || deadline.aborted) {
        throw new Error(`There is no "${text}" in:\n${this.stdout}\n${this.stderr}`);
      }
      await new Promise<unknown>((resolve) => {
        this.#listeners.add(() => resolve(null));
        deadline.addEventListener('abort', resolve, { once: true });
      });
    }
  }

  #hear(change: () => void): void {
    change();
    for (const tell of this.#listeners) tell();
    this.#listeners.clear();
  }
}

export interface RunOptions {
  url?: string;
  env?: Record<string, string>;
  /** What is piped in; the pipe is closed after it. */
  input?: string;
}

/** Starts the real program, without a terminal. */
export function startVitto(args: string[], options: RunOptions = {}): RunningVitto {
  const child = spawn(process.execPath, [MAIN, ...args], { env: environment(options) });
  child.stdin.end(options.input ?? '');
  return new RunningVitto(child);
}

export function runVitto(args: string[], options: RunOptions = {}): Promise<Finished> {
  return startVitto(args, options).finished;
}

/** Starts the real program on a terminal of its own; what is written to `child.stdin` is typed there. */
export function startVittoOnTerminal(args: string[], options: RunOptions = {}): RunningVitto {
  // `script` takes a shell line: the arguments reach it as variables, never as text of the line.
  const names = args.map((_, at) => `VITTO_TEST_ARG_${at}`);
  const line = `exec "$VITTO_TEST_NODE" "$VITTO_TEST_MAIN" ${names.map((name) => `"$${name}"`).join(' ')}`;
  const variables = Object.fromEntries(args.map((arg, at) => [`VITTO_TEST_ARG_${at}`, arg]));
  const env = {
    ...environment(options),
    ...variables,
    VITTO_TEST_NODE: process.execPath,
    VITTO_TEST_MAIN: MAIN,
    TERM: 'xterm',
  };
  return new RunningVitto(spawn('script', ['-qefc', line, '/dev/null'], { env }));
}

/** Whether this machine has util-linux's `script`, which gives a process a terminal. */
export const hasTerminals = spawnSync('script', ['--version']).status === 0;

function environment({ url, env }: RunOptions): Record<string, string> {
  const path = process.env['PATH'] ?? '';
  return { PATH: path, VITTO_HOME: '/nonexistent', ...(url === undefined ? {} : { VITTO_URL: url }), ...env };
}
