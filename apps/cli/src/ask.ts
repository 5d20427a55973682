import { createInterface, type Interface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';

/** What was typed before a question stood on the screen does not answer it. */
const TYPE_AHEAD_MS = 150;

export interface Question {
  /** What stands before the cursor. */
  prompt: string;
  /** Called on Ctrl-C while the question is open. */
  onInterrupt: () => void;
  /** Takes the question back. */
  signal?: AbortSignal;
  /** Drops what was typed before: for questions where a stray "y" would do harm. */
  dropsTypeAhead?: boolean;
}

/**
 * Asks on the terminal and gives the line, or `null` when the question was taken back or the input ended (Ctrl-D).
 * Lines that were pasted together come as one text.
 */
export async function ask(question: Question): Promise<string | null> {
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: true, prompt: '' });
  const closed = new AbortController();
  lines.on('close', () => closed.abort());
  lines.on('SIGINT', question.onInterrupt);
  const over = AbortSignal.any([closed.signal, ...(question.signal === undefined ? [] : [question.signal])]);
  try {
    if (question.dropsTypeAhead === true) await dropTypeAhead(lines, over);
    return await readAnswer(lines, question.prompt, over);
  } finally {
    lines.close();
  }
}

async function dropTypeAhead(lines: Interface, over: AbortSignal): Promise<void> {
  await delay(TYPE_AHEAD_MS, undefined, { signal: over }).catch(() => {});
  if (over.aborted) return;
  // A half-typed line goes too: Ctrl-U, then Ctrl-K.
  lines.write(null, { ctrl: true, name: 'u' });
  lines.write(null, { ctrl: true, name: 'k' });
}

function readAnswer(lines: Interface, prompt: string, over: AbortSignal): Promise<string | null> {
  return new Promise((resolve) => {
    if (over.aborted) return resolve(null);
    const read: string[] = [];
    over.addEventListener('abort', () => resolve(read.length === 0 ? null : read.join('\n')), { once: true });
    lines.on('line', (line) => {
      read.push(line);
      if (read.length === 1) setImmediate(() => resolve(read.join('\n')));
    });
    lines.setPrompt(prompt);
    lines.prompt();
  });
}
