import { describe, expect, it } from 'vitest';
import { EventMaker, idOf } from '../../../testing/event-maker.ts';
import { EMPTY_LOG, foldConversation } from './fold-conversation.ts';
import { findRowAt, toRows } from './thread-rows.ts';

const FIRST = idOf(1);
const SECOND = idOf(2);
const THIRD = idOf(3);

/** A question, its answer, and the same question in other words with another answer. */
function edited(make = new EventMaker()) {
  const first = make.said(FIRST, 'What is it?', { messageId: idOf(11) });
  return [
    make.created(FIRST),
    first,
    make.turn(FIRST, 1, 'It is old.'),
    make.completed(FIRST, 'It is old.'),
    make.created(SECOND),
    make.said(SECOND, 'What is it now?', {
      messageId: idOf(12),
      replaces: idOf(11),
      replacesPosition: first.position,
    }),
    make.turn(SECOND, 1, 'It is new.'),
  ];
}

const shown = (events: ReturnType<typeof edited>, opened: string[] = []) =>
  toRows(foldConversation(EMPTY_LOG, events).view.items, new Set(opened)).map((row) =>
    row.kind === 'earlier' ? 'earlier' : 'text' in row.item ? row.item.text : row.item.kind,
  );

describe('the rows of a thread', () => {
  it('fold what a later message stands in for into one line, which opens', () => {
    expect(shown(edited())).toEqual(['earlier', 'What is it now?', 'It is new.']);
    expect(shown(edited(), [idOf(12)])).toEqual([
      'earlier',
      'What is it?',
      'It is old.',
      'end',
      'What is it now?',
      'It is new.',
    ]);
  });

  it('keep one line a version when an edit is edited, and one for all when it goes further back', () => {
    const make = new EventMaker();
    const events = edited(make);
    const again = make.said(THIRD, 'And now?', { messageId: idOf(13), replaces: idOf(12) });
    expect(shown([...events, again])).toEqual(['earlier', 'earlier', 'And now?']);
    const further = make.said(THIRD, 'All new.', { messageId: idOf(14), replaces: idOf(11) });
    expect(shown([...events, again, further])).toEqual(['earlier', 'All new.']);
  });

  it('set aside all that is here when the replaced message itself is on an older page', () => {
    const events = edited();
    expect(shown(events.slice(2))).toEqual(['earlier', 'What is it now?', 'It is new.']);
    const log = foldConversation(foldConversation(EMPTY_LOG, events.slice(2)), events.slice(0, 2));
    expect(log.view.items).toEqual(foldConversation(EMPTY_LOG, events).view.items);
  });

  it('leave out turns that say nothing, and find the row of a position', () => {
    const make = new EventMaker();
    const events = [
      make.created(FIRST),
      make.said(FIRST, 'Look.'),
      make.turn(FIRST, 1, '', { calls: [{ id: 'c', tool: 'run_command', input: {} }] }),
      make.called(FIRST, 'c', 'run_command'),
      make.turn(FIRST, 2, 'Seen.'),
    ];
    const rows = toRows(foldConversation(EMPTY_LOG, events).view.items, new Set());
    expect(rows.map((row) => row.kind === 'item' && row.item.kind)).toEqual(['user', 'tool', 'answer']);
    expect(findRowAt(rows, 4)).toBe(1);
    expect(findRowAt(rows, 5)).toBe(2);
    expect(findRowAt(rows, 1)).toBe(-1);
  });
});
