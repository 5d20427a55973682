import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Command } from 'commander';
import { CliError, EXIT } from '../cli-error.ts';
import { commandLine } from '../command-line.ts';
import { createContext } from '../context.ts';
import { fileModel } from '../model-list.ts';
import { readPrompt } from '../read-prompt.ts';
import { addMessageOptions, sendMessage, type MessageOptions } from '../send-message.ts';
import { watchTask } from '../watch-task.ts';

/** A divergence fails the task; the failure's text has both sides. */
export function addReplay(program: Command): void {
  const replay = program
    .command('replay')
    .description(
      'Run a recorded task again with its recorded answers; where it differs, both sides are shown',
    )
    .argument('<file>', 'the recording')
    .argument('[text]', 'what to do (default: what was asked in the recording)');
  addMessageOptions(replay).action(
    async (file: string, text: string | undefined, options: MessageOptions, command: Command) => {
      const context = createContext(command);
      const prompt = text === undefined ? await readRecordedPrompt(file) : ((await readPrompt(text)) ?? '');
      const send = () => sendMessage(context, prompt, { ...options, model: fileModel('replay', file) });
      const { exitCode } = await watchTask(context, send, { streamsText: options.stream === true });
      process.exitCode = exitCode;
    },
  );
}

/** What the user asked in the first request of a recording (one JSON object a line, `request.prompt` in it). */
async function readRecordedPrompt(file: string): Promise<string> {
  const line = await readFirstLine(file);
  try {
    const { request } = JSON.parse(line) as { request: { prompt: { role: string; content: unknown }[] } };
    const content = request.prompt.find(({ role }) => role === 'user')?.content;
    const text = Array.isArray(content) ? content.find(isText)?.text : content;
    if (typeof text === 'string' && text !== '') return text;
  } catch {
    // Told below, as every file that is no recording.
  }
  throw new CliError(
    EXIT.usage,
    'cli.bad-file',
    `${file} is no recording that says what was asked.`,
    `Give the text: ${commandLine('replay FILE "…"')}. Make a recording with "${commandLine('record')}".`,
  );
}

async function readFirstLine(file: string): Promise<string> {
  const input = createReadStream(resolve(file), 'utf8');
  try {
    for await (const line of createInterface({ input })) return line;
    return '';
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'error';
    throw new CliError(
      EXIT.usage,
      'cli.bad-file',
      `${file} cannot be read (${code}).`,
      'Check the path of the recording.',
    );
  } finally {
    input.destroy();
  }
}

function isText(part: unknown): part is { text: string } {
  return typeof part === 'object' && part !== null && 'text' in part && typeof part.text === 'string';
}
