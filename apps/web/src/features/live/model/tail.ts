import type { EventEnvelope } from '@vitto/contracts';
import { terminalToText } from '../../chat/model/terminal-runs.ts';

/** What a task has written last: its own text and the output of its commands, in the order in which it came. */
export type Tail = readonly TailPiece[];
export interface TailPiece {
  readonly source: 'text' | 'output';
  readonly raw: string;
}

export const NO_TAIL: Tail = [];
/** Lines that are shown. */
export const TAIL_LINES = 12;
/** As much as a column keeps, in UTF-16 units: more than its lines can show. */
export const TAIL_KEPT = 4_000;

/** A tail after an event; the same one when the event writes nothing. */
export function addToTail(tail: Tail, event: EventEnvelope): Tail {
  switch (event.type) {
    case 'agent.text':
      return write(tail, 'text', event.payload['delta']);
    case 'tool.progress':
      return write(tail, 'output', event.payload['text']);
    case 'model.retry':
      // The text of an attempt that failed does not count.
      return tail.at(-1)?.source === 'text' ? tail.slice(0, -1) : tail;
    default:
      return tail;
  }
}

function write(tail: Tail, source: TailPiece['source'], text: unknown): Tail {
  if (typeof text !== 'string' || text === '') return tail;
  const last = tail.at(-1);
  const added = text.slice(-TAIL_KEPT);
  const pieces =
    last?.source === source
      ? [...tail.slice(0, -1), { source, raw: last.raw + added }]
      : [...tail, { source, raw: added }];
  return keepEnd(pieces);
}

function keepEnd(pieces: TailPiece[]): Tail {
  let over = pieces.reduce((sum, piece) => sum + piece.raw.length, 0) - TAIL_KEPT;
  // One piece may become a little shorter with each delta: it is cut only when it is worth a copy.
  if (over <= TAIL_KEPT / 4) return pieces;
  const kept: TailPiece[] = [];
  for (const piece of pieces) {
    const raw = over > 0 ? piece.raw.slice(over) : piece.raw;
    over -= piece.raw.length;
    if (raw !== '') kept.push({ ...piece, raw });
  }
  return kept;
}

/** Reading a terminal's output costs by the letter: what cannot be among the last lines is not read. */
function cutLines(raw: string): string {
  let from = raw.length;
  for (let lines = 0; lines <= TAIL_LINES * 2 && from > 0; lines += 1) from = raw.lastIndexOf('\n', from - 1);
  return from <= 0 ? raw : raw.slice(from + 1);
}

export interface TailLine {
  source: TailPiece['source'];
  text: string;
}

/** The last lines as plain text: colours and cursor movements of a terminal are not shown. */
export function toLines(tail: Tail): TailLine[] {
  const lines = tail.flatMap(({ source, raw }) =>
    (source === 'output' ? terminalToText(cutLines(raw)) : cutLines(raw))
      .split('\n')
      .filter((text) => text.trim() !== '')
      .map((text) => ({ source, text: text.slice(-300).toWellFormed() })),
  );
  return lines.slice(-TAIL_LINES);
}
