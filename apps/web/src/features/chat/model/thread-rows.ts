import { estimateGroupHeight } from './agents-item.ts';
import type { AnswerItem, Item } from './view.ts';

/** A line of the thread: an item, or the heading of a part that another message stands in for. */
export type Row =
  | { kind: 'item'; key: string; item: Item }
  | { kind: 'earlier'; key: string; messageId: string; position: number; isOpen: boolean };

/** What is shown, in order. Parts that were replaced are one line each until they are opened. */
export function toRows(items: readonly Item[], opened: ReadonlySet<string>): Row[] {
  const rows: Row[] = [];
  let part: string | undefined;
  for (const item of items) {
    const by = item.replacedBy;
    if (by !== undefined && by !== part) rows.push(toHeading(item, by, opened.has(by)));
    part = by;
    if (isShown(item) && (by === undefined || opened.has(by)))
      rows.push({ kind: 'item', key: item.key, item });
  }
  return rows;
}

function toHeading(first: Item, messageId: string, isOpen: boolean): Row {
  return {
    kind: 'earlier',
    key: `earlier:${messageId}:${first.key}`,
    messageId,
    position: first.position,
    isOpen,
  };
}

/** A turn that only called tools says nothing: its calls do. */
function isShown(item: Item): boolean {
  return item.kind !== 'answer' || !isSilent(item);
}

function isSilent(item: AnswerItem): boolean {
  return item.text.trim() === '' && item.reasoning.trim() === '' && item.discarded.length === 0;
}

export function rowPosition(row: Row): number {
  return row.kind === 'item' ? row.item.position : row.position;
}

/** The row at a position of the journal: the last one that begins at or before it. */
export function findRowAt(rows: readonly Row[], position: number): number {
  return rows.findLastIndex((row) => rowPosition(row) <= position);
}

/** How high a row is before it has been drawn, in pixels: the nearer, the less the scroll bar moves. */
export function estimateHeight(row: Row): number {
  if (row.kind === 'earlier') return 32;
  const { item } = row;
  switch (item.kind) {
    case 'user':
      return 20 + textHeight(item.text, 60, 24) + (item.attachments.length > 0 ? 40 : 0);
    case 'answer':
      return 30 + textHeight(item.text, 85, 27);
    case 'approval':
      return 260;
    case 'question':
      return 160;
    case 'end':
      return item.result === null ? 20 : 40 + textHeight(item.result, 85, 27);
    case 'notice':
      return 44;
    case 'tool':
      return 38;
    case 'agents':
      return estimateGroupHeight(item);
    case 'raw':
      return 24;
  }
}

function textHeight(text: string, columns: number, line: number): number {
  return Math.ceil(text.length / columns) * line;
}
