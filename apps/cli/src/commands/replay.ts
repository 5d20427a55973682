import type { Command } from 'commander';
import { createContext, type Context } from '../context.ts';
import { fileModel } from '../model-list.ts';
import { readPrompt } from '../read-prompt.ts';
import { readRecording, saysNoPrompt } from '../recording.ts';
import { addMessageOptions, sendMessage, type MessageOptions } from '../send-message.ts';
import { toPlainLine } from '../text/terminal-text.ts';
import { watchTask } from '../watch-task.ts';

/** A divergence fails the task; the failure's text has both sides. */
export function addReplay(program: Command): void {
  const replay = program
    .command('replay')
    .description(
      'Run a recorded task again with its recorded answers; where it differs, both sides are shown',
    )
    .argument('<file>', 'the recording; its folders are used unless --path names others')
    .argument('[text]', 'what to do (default: what was asked in the recording)');
  addMessageOptions(replay).action(
    async (file: string, text: string | undefined, options: MessageOptions, command: Command) => {
      process.exitCode = await playAgain(createContext(command), file, text, options);
    },
  );
}

async function playAgain(context: Context, file: string, text: string | undefined, options: MessageOptions) {
  const recorded = await readRecording(file);
  const prompt = text === undefined ? recorded.prompt : await readPrompt(text);
  if (prompt === null) throw saysNoPrompt(file);
  const path = options.path.length > 0 ? options.path : recorded.folders;
  if (path !== options.path) tellFolders(context, path);
  const send = () => sendMessage(context, prompt, { ...options, path, model: fileModel('replay', file) });
  const { exitCode } = await watchTask(context, send, { streamsText: options.stream === true });
  return exitCode;
}

/** The recording may be somebody else's: what it is shown of this machine is said. */
function tellFolders({ output }: Context, folders: string[]): void {
  if (folders.length === 0) return;
  output.notice(`As recorded it may read ${toPlainLine(folders.join(', '))} (others: --path).`);
}
