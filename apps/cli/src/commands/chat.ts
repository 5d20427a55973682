import type { Command } from 'commander';
import { ask } from '../ask.ts';
import { CliError, EXIT, type ExitCode } from '../cli-error.ts';
import { commandLine } from '../command-line.ts';
import { createContext, type Context } from '../context.ts';
import { readPrompt } from '../read-prompt.ts';
import { addMessageOptions, sendMessage, type MessageOptions } from '../send-message.ts';
import { toPlainText } from '../text/terminal-text.ts';
import { watchTask } from '../watch-task.ts';

export function addChat(program: Command): void {
  const chat = program
    .command('chat')
    .description('Talk with Vitto: once with a text or piped input, else until Ctrl-D')
    .argument('[text]', 'what to do')
    .option('--conversation <id>', 'go on with this conversation');
  addMessageOptions(chat).action(
    async (text: string | undefined, options: MessageOptions, command: Command) => {
      const context = createContext(command);
      const prompt = await readPrompt(text);
      process.exitCode =
        prompt === null ? await converse(context, options) : await tellOnce(context, prompt, options);
    },
  );
}

async function tellOnce(context: Context, text: string, options: MessageOptions): Promise<ExitCode> {
  const streamsText = options.stream === true;
  const { exitCode, task } = await watchTask(context, () => sendMessage(context, text, options), {
    streamsText,
  });
  if (context.output.isTerminal) {
    context.output.note(
      context.output.colors.dim(`To go on: ${commandLine(`chat --conversation ${task.conversationId}`)}`),
    );
  }
  return exitCode;
}

/** Message after message in one conversation. Ctrl-C stops the task that runs; at the prompt it ends the session. */
async function converse(context: Context, options: MessageOptions): Promise<ExitCode> {
  if (!context.isInteractive) {
    throw new CliError(
      EXIT.usage,
      'cli.no-text',
      'There is no text to send, and nobody to ask for it.',
      `Give it as ${commandLine('chat "…"')}.`,
    );
  }
  const { output } = context;
  output.note(output.colors.dim('Ctrl-C stops what runs, Ctrl-D ends.'));
  let conversation = options.conversation;
  for (;;) {
    const asked = await askForMessage();
    if (asked === 'interrupt') return EXIT.cancelled;
    if (asked === 'end') break;
    const { text } = asked;
    if (text.trim() === '') continue;
    try {
      const next = { ...options, ...(conversation === undefined ? {} : { conversation }) };
      const { task } = await watchTask(context, () => sendMessage(context, text.toWellFormed(), next));
      conversation = task.conversationId;
    } catch (error) {
      // A message that was not taken does not end the session: the person can say it again.
      if (!(error instanceof CliError) || conversation === undefined) throw error;
      output.error(error);
    }
  }
  if (conversation !== undefined)
    output.note(
      output.colors.dim(`To go on: ${commandLine(`chat --conversation ${toPlainText(conversation)}`)}`),
    );
  return EXIT.done;
}

/** `end` after Ctrl-D, `interrupt` after Ctrl-C. */
async function askForMessage(): Promise<{ text: string } | 'end' | 'interrupt'> {
  const interrupted = new AbortController();
  const text = await ask({
    prompt: '> ',
    onInterrupt: () => interrupted.abort(),
    signal: interrupted.signal,
  });
  if (text === null) process.stderr.write('\n');
  if (interrupted.signal.aborted) return 'interrupt';
  return text === null ? 'end' : { text };
}
