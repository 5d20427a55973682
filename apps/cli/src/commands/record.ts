import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { CliError, EXIT } from '../cli-error.ts';
import { commandLine } from '../command-line.ts';
import { createContext, type Context } from '../context.ts';
import { fileModel, resolveModelFiles } from '../model-list.ts';
import { readPrompt } from '../read-prompt.ts';
import { beginRecording } from '../recording.ts';
import { isLoopback } from '../server-url.ts';
import { addMessageOptions, sendMessage, type MessageOptions } from '../send-message.ts';
import { watchTask, type StartedTask } from '../watch-task.ts';

/** The server records: `record:FILE`, and the models to record after a comma; without any, those of the settings. */
export function addRecord(program: Command): void {
  const record = program
    .command('record')
    .description('Run a task and record what its models answer, to be replayed without them')
    .argument('[text]', 'what to do')
    .option('-o, --output <file>', 'the recording (default: vitto-TIME.jsonl here)');
  addMessageOptions(record).action(
    async (text: string | undefined, options: MessageOptions & { output?: string }, command: Command) => {
      const context = createContext(command);
      const file = options.output ?? `vitto-${new Date().toISOString().replaceAll(/[:.]/g, '-')}.jsonl`;
      refuseExisting(context, file);
      const prompt = await requirePrompt(text);
      const models = options.model === undefined ? [] : [resolveModelFiles(options.model)];
      const model = [fileModel('record', file), ...models].join(',');
      const send = () => sendRecorded(context, file, prompt, { ...options, model });
      const { exitCode } = await watchTask(context, send, { streamsText: options.stream === true });
      context.output.note(`Recorded to ${file}. Run it again with: ${commandLine(`replay ${file}`)}`);
      process.exitCode = exitCode;
    },
  );
}

/** Folders are noted in the file beforehand, so that a replay has them too. A server elsewhere has files of its own. */
async function sendRecorded(
  context: Context,
  file: string,
  prompt: string,
  options: MessageOptions,
): Promise<StartedTask> {
  if (options.path.length === 0 || !isLoopback(context.url)) return sendMessage(context, prompt, options);
  const giveUp = await beginRecording(file, options.path);
  try {
    return await sendMessage(context, prompt, options);
  } catch (error) {
    await giveUp();
    throw error;
  }
}

/** The text of a command that sends one message only. */
export async function requirePrompt(text: string | undefined): Promise<string> {
  const prompt = await readPrompt(text);
  if (prompt !== null) return prompt;
  throw new CliError(
    EXIT.usage,
    'cli.no-text',
    'There is no text to send.',
    'Give it as the last argument, or pipe it in.',
  );
}

function refuseExisting({ api }: Context, file: string): void {
  if (!isLoopback(api.url) || !existsSync(resolve(file))) return;
  throw new CliError(
    EXIT.usage,
    'cli.bad-file',
    `${file} is there already.`,
    'Name another file with -o, or remove it first.',
  );
}
