import { spawn } from 'node:child_process';
import type { Command } from 'commander';
import { CliError, EXIT } from '../cli-error.ts';
import { createContext } from '../context.ts';
import { serverProgram } from '../server-program.ts';
import { formatCount } from '../text/format.ts';
import { toPlainLine } from '../text/terminal-text.ts';

/** What the program of this checkout says. */
interface Told {
  result?: { values: number; unreadable: number; from: string; to: string; keptIn: string };
  error?: { code: string; message: string; hint: string | null };
}

/** The master key lies on the machine of the installation, and is changed there while nothing runs. */
export function addVault(program: Command): void {
  const vault = program.command('vault').description('The vault of secrets and keys on this machine');
  vault
    .command('rotate')
    .description('Make a new master key and seal everything with it; Vitto must not run meanwhile')
    .action(rotate);
}

async function rotate(_options: unknown, command: Command): Promise<void> {
  const { output, environment } = createContext(command);
  const { result, error } = readLast(await runProgram(environment));
  if (error !== undefined) {
    throw new CliError(EXIT.failed, error.code, error.message, error.hint ?? undefined);
  }
  if (result === undefined) {
    throw new CliError(
      EXIT.failed,
      'cli.no-result',
      'It ended without a result.',
      'Run it again: it goes on.',
    );
  }
  if (output.json) return output.document(result);
  output.line(
    `The master key is ${result.to} now; ${formatCount(result.values, 'value', 'values')} sealed anew.`,
  );
  if (result.unreadable > 0) {
    output.notice(`${result.unreadable} could not be opened before either: enter them again.`);
  }
  output.notice(
    toPlainLine(
      `The older key is in ${result.keptIn}, for older backups. Delete it if others may have read it.`,
    ),
  );
}

/** What it printed. Its log goes to our stderr. */
function runProgram(environment: NodeJS.ProcessEnv): Promise<string> {
  const program = spawn(process.execPath, [serverProgram('vault'), 'rotate'], {
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  program.stdout.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')));
  return new Promise((resolve, reject) => {
    program.once('error', reject);
    program.once('close', () => resolve(text));
  });
}

function readLast(text: string): Told {
  try {
    return JSON.parse(text.trim().split('\n').at(-1) ?? '') as Told;
  } catch {
    return {};
  }
}
