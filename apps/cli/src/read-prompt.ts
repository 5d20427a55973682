import { text as readText } from 'node:stream/consumers';
import { MESSAGE_MAX_LENGTH } from '@vitto/contracts';
import { CliError, EXIT } from './cli-error.ts';
import { commandLine } from './command-line.ts';

/** The message to send: the argument, or what is piped in; `null` when neither is there and a person can be asked. */
export async function readPrompt(argument: string | undefined): Promise<string | null> {
  if (argument === undefined && process.stdin.isTTY === true) return null;
  const prompt = argument ?? (await readText(process.stdin));
  if (prompt.trim() === '') {
    throw new CliError(
      EXIT.usage,
      'cli.no-text',
      'There is no text to send.',
      `Give it as ${commandLine('chat "…"')}, or pipe it in.`,
    );
  }
  if (prompt.length > MESSAGE_MAX_LENGTH) {
    throw new CliError(
      EXIT.usage,
      'cli.text-too-long',
      `The text has ${prompt.length} characters; at most ${MESSAGE_MAX_LENGTH} can be sent.`,
      'Put it into a file and allow its folder with --path.',
    );
  }
  return prompt.toWellFormed();
}
