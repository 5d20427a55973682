import type { LanguageModelV4Message } from '@ai-sdk/provider';
import { cutText, cutMiddle, toTitle } from '../../kernel/text/cut.ts';
import { nameOf, readReferencePart } from './attachments/attachment-part.ts';
import type { Run } from './run-context.ts';

/** The next request may fill this share of the model's window before the oldest part is replaced. */
const FULL_AT = 0.75;
/** What stays of the conversation, as a share of the window. */
const KEEP = 0.4;
/** Bytes a token takes, on average: for the size of the context, not for budgets. */
const BYTES_A_TOKEN = 3.2;
const SUMMARY_MAX_LENGTH = 8_000;

/** Bytes of a request that fill the smallest window among the task's models as far as it may be filled. */
export function fullBytes(run: Run): number {
  return Math.floor(windowOf(run) * FULL_AT * BYTES_A_TOKEN);
}

/** True when the next request would pass 75 % of the smallest window among the task's models. */
export function isContextFull(run: Run, bytes: number): boolean {
  return bytes > fullBytes(run);
}

/**
 * Replaces the oldest part of the conversation by a plain summary, oldest first, and journals it so that a resumed task
 * has the same context. Calls and their results are never parted.
 * @returns false when there is nothing left to cut.
 */
export async function compactContext(run: Run, share = KEEP): Promise<boolean> {
  await run.journal.append([{ type: 'phase.started', payload: { phase: 'compaction' } }]);
  // What was just written got its real positions now, and what others wrote belongs to it; the cut must be at one of them.
  if (run.journal.hasNews) await run.journal.readNews();
  await run.reload();
  const began = run.deps.clock.monotonic();
  const cut = run.transcript.findCut(windowOf(run) * share * BYTES_A_TOKEN);
  const summary = cut === null ? undefined : summarise(cut.cut);
  await run.journal.append([
    {
      type: 'phase.completed',
      payload: {
        phase: 'compaction',
        durationMs: Math.round(run.deps.clock.monotonic() - began),
        ...(cut === null ? {} : { summary, throughPosition: cut.throughPosition, tainted: cut.isTainted }),
      },
    },
  ]);
  run.state.measured = null;
  return cut !== null;
}

function windowOf(run: Run): number {
  return Math.min(...run.deps.models.map((model) => model.contextWindow));
}

const HEAD = 'The older part of this conversation was cut to fit. In short, oldest first:';
const NOTE_START = `<engine-note>\n${HEAD}\n`;
const NOTE_END = '\n</engine-note>';

/** The lines of a summary made before, which are kept as they are; `null` for any other text. */
function readEarlier(text: string): string | null {
  if (!text.startsWith(NOTE_START) || !text.endsWith(NOTE_END)) return null;
  return text.slice(NOTE_START.length, -NOTE_END.length);
}

/**
 * A plain digest of messages by rule: what the user said verbatim (cut), what was called with which result in a line
 * each, what was answered. Identifiers and paths stay as they are.
 */
export function summarise(messages: readonly LanguageModelV4Message[]): string {
  const lines = messages.flatMap(toLines);
  return `${HEAD}\n${cutMiddle(lines.join('\n'), SUMMARY_MAX_LENGTH).text}`;
}

function toLines(message: LanguageModelV4Message): string[] {
  switch (message.role) {
    case 'system':
      return [];
    case 'user':
      return message.content.map((part) => {
        const file = readReferencePart(part);
        if (file !== null) return `- user: [${nameOf(file)}]`;
        if (part.type !== 'text') return '- user: (file)';
        return readEarlier(part.text) ?? `- user: ${cutText(part.text, 1_500)}`;
      });
    case 'assistant':
      return message.content.flatMap((part) => {
        if (part.type === 'text')
          return part.text.trim() === '' ? [] : [`- you said: ${cutText(part.text.trim(), 600)}`];
        if (part.type === 'tool-call')
          return [`- you called ${part.toolName} ${cutText(JSON.stringify(part.input), 300)}`];
        return [];
      });
    case 'tool':
      return message.content.flatMap((part) =>
        part.type === 'tool-result' && (part.output.type === 'text' || part.output.type === 'error-text')
          ? [`  result of ${part.toolName}: ${toTitle(part.output.value, 300)}`]
          : [],
      );
  }
}
