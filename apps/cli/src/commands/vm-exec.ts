import { constants } from 'node:os';
import { buffer } from 'node:stream/consumers';
import type { Command } from 'commander';
import { unreachable } from '../api-problem.ts';
import type { SandboxCommand } from '../api-client.ts';
import { CliError, EXIT } from '../cli-error.ts';
import { commandLine } from '../command-line.ts';
import { createContext, type Context } from '../context.ts';
import { readExecEvents, type CommandResult, type ExecEvent } from '../exec-events.ts';
import { Interrupts } from '../interrupts.ts';
import { readPositive } from '../read-number.ts';
import { resolveMachine } from '../resolve-machine.ts';
import { splitAtDashes, toShellLine } from '../shell-words.ts';
import { TerminalText, toPlainLine } from '../text/terminal-text.ts';

/** What `timeout` of coreutils exits with, which scripts know. */
const TIMED_OUT = 124;

interface ExecOptions {
  cwd?: string;
  timeout?: number;
  stdin?: boolean;
}

export function addVmExec(vm: Command): void {
  vm.command('exec')
    .description('Run a command in a machine; its output and its exit code are those of this one')
    .usage('[options] [id] -- COMMAND…')
    .argument('[words...]', 'the machine, then -- and the command; a single word is a line for the shell')
    .option('--cwd <folder>', 'where it runs (default: the home of the machine)')
    .option('--timeout <seconds>', 'when it is ended (default: the limit of the server)', readPositive)
    .option('-i, --stdin', 'give it what is piped in here')
    .action((words: string[], options: ExecOptions, command: Command) =>
      run(createContext(command), words, options),
    );
}

async function run(context: Context, words: string[], options: ExecOptions): Promise<void> {
  const { id, command } = splitAtDashes(words, process.argv);
  if (command.length === 0) {
    throw new CliError(
      EXIT.usage,
      'cli.no-command',
      'There is no command to run.',
      `Write it after --, as in: ${commandLine('vm exec -- ls -l')}`,
    );
  }
  const machine = await resolveMachine(context.api, id);
  const body: SandboxCommand = {
    command: toShellLine(command),
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...(options.timeout === undefined ? {} : { timeoutMs: Math.round(options.timeout * 1000) }),
    ...(options.stdin === true ? { stdin: await readStdin() } : {}),
  };
  if (machine.state !== 'running') context.output.status('starting the machine …');
  const stopped = new AbortController();
  const interrupts = new Interrupts(() => stopped.abort());
  try {
    process.exitCode = await follow(context, machine.id, body, stopped.signal);
  } catch (error) {
    if (!interrupts.wasPressed) throw error;
    throw new CliError(EXIT.cancelled, 'cli.cancelled', 'Cancelled: the command is ended.');
  } finally {
    interrupts.stop();
    context.output.clearStatus();
  }
}

async function follow(
  { api, output }: Context,
  id: string,
  body: SandboxCommand,
  signal: AbortSignal,
): Promise<number> {
  const write = { stdout: createWriter(process.stdout), stderr: createWriter(process.stderr) };
  for await (const event of readEvents(api, id, body, signal)) {
    if (event.type === 'waiting') {
      output.status(`waiting for a VM, place ${event.place}: ${toPlainLine(event.reason)}`);
    } else if (event.type === 'result') {
      if (output.json) output.document(event.result);
      else tellEnd(output, event.result);
      return exitCodeOf(event.result);
    } else if (!output.json) {
      output.clearStatus();
      await write[event.type](event.bytes);
    }
  }
  return EXIT.failed;
}

async function* readEvents(
  api: Context['api'],
  id: string,
  body: SandboxCommand,
  signal: AbortSignal,
): AsyncGenerator<ExecEvent> {
  try {
    yield* readExecEvents(await api.openExec(id, body, signal));
  } catch (error) {
    throw error instanceof TypeError ? unreachable(api.url, error) : error;
  }
}

/** Bytes go on as they are; on a terminal, where they could do harm, they are made safe. */
function createWriter(sink: NodeJS.WriteStream): (bytes: Buffer) => Promise<void> {
  const decoder = new TextDecoder();
  const cleaner = new TerminalText();
  return async (bytes) => {
    const safe = sink.isTTY ? cleaner.push(decoder.decode(bytes, { stream: true })) : bytes;
    if (!sink.write(safe)) await new Promise((resolve) => sink.once('drain', resolve));
  };
}

function exitCodeOf({ exitCode, signal, timedOut }: CommandResult): number {
  if (timedOut) return TIMED_OUT;
  if (exitCode !== null) return exitCode;
  const name = signal === null ? undefined : (signal as keyof typeof constants.signals);
  return name === undefined ? EXIT.failed : 128 + (constants.signals[name] ?? 0);
}

function tellEnd(output: Context['output'], { signal, timedOut, limit }: CommandResult): void {
  if (timedOut) output.notice('It took longer than it may and was ended; --timeout gives it more.');
  else if (limit !== null) output.notice(`It was ended: it used more ${limit} than it may.`);
  else if (signal !== null) output.notice(`It was ended by ${signal}.`);
}

async function readStdin(): Promise<string> {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await buffer(process.stdin));
  } catch {
    throw new CliError(
      EXIT.usage,
      'cli.not-text',
      'What is piped in is not UTF-8 text.',
      `Bytes go in through ssh: ${commandLine('vm ssh -- "cat > FILE"')} < FILE`,
    );
  }
}
