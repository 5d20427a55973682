import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { CliError, EXIT } from './cli-error.ts';
import { Interrupts } from './interrupts.ts';
import { serverProgram } from './server-program.ts';

export interface ImageProgress {
  step: string;
  /** 0 to 1 */
  fraction: number;
}
interface Told {
  progress?: ImageProgress;
  line?: string;
  result?: unknown;
  error?: { code: string; message: string; hint?: string };
}

/**
 * Runs the server's program for the images of this machine and gives its result. Ctrl-C lets it clean up first; it
 * ends with us, whatever ends us.
 * @throws CliError with its words
 */
export async function runImageProgram(
  args: string[],
  environment: NodeJS.ProcessEnv,
  watch: { onProgress?: (progress: ImageProgress) => void; onLine?: (line: string) => void },
): Promise<unknown> {
  const program = spawn(process.execPath, [serverProgram('images'), ...args], {
    env: environment,
    stdio: ['pipe', 'pipe', 'inherit'],
    // A terminal's Ctrl-C comes to us alone: the program learns of it by the end of its stdin.
    detached: true,
  });
  const interrupts = new Interrupts(() => program.stdin.end());
  const last: Told = {};
  try {
    const ended = new Promise<void>((resolve, reject) => {
      program.once('error', reject);
      program.once('close', () => resolve());
    });
    for await (const line of createInterface({ input: program.stdout })) take(line, last, watch);
    await ended;
  } finally {
    interrupts.stop();
  }
  if (interrupts.wasPressed)
    throw new CliError(EXIT.cancelled, 'cli.cancelled', 'Cancelled; nothing was left behind.');
  if (last.error !== undefined)
    throw new CliError(EXIT.failed, last.error.code, last.error.message, last.error.hint);
  if (!('result' in last)) {
    throw new CliError(
      EXIT.failed,
      'cli.no-result',
      'It ended without a result.',
      'Try it again; "vitto doctor" says what is missing here.',
    );
  }
  return last.result;
}

function take(
  line: string,
  last: Told,
  watch: { onProgress?: (progress: ImageProgress) => void; onLine?: (line: string) => void },
): void {
  const told = JSON.parse(line) as Told;
  if (told.progress !== undefined) watch.onProgress?.(told.progress);
  if (told.line !== undefined) watch.onLine?.(told.line);
  if ('result' in told) last.result = told.result;
  if (told.error !== undefined) last.error = told.error;
}
