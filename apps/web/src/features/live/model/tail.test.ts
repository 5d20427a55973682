import { describe, expect, it } from 'vitest';
import { EventMaker, idOf } from '../../../testing/event-maker.ts';
import { addToTail, NO_TAIL, TAIL_KEPT, TAIL_LINES, toLines, type Tail } from './tail.ts';

const T = idOf(1);
const make = new EventMaker();
const fold = (events: Parameters<typeof addToTail>[1][], from: Tail = NO_TAIL) =>
  events.reduce(addToTail, from);

describe('the tail of a task', () => {
  it('is its text and its output in the order in which they came', () => {
    const tail = fold([
      make.text(T, 1, 'I run '),
      make.text(T, 1, 'the tests.\n\n'),
      make.progress(T, 'c', '\u001b[32mok\u001b[0m 1\n10 %\r100 %'),
      make.text(T, 2, 'They pass.'),
    ]);
    expect(toLines(tail)).toEqual([
      { source: 'text', text: 'I run the tests.' },
      { source: 'output', text: 'ok 1' },
      { source: 'output', text: '100 %' },
      { source: 'text', text: 'They pass.' },
    ]);
  });

  it('shows the last lines, and keeps no more than it can show of however much', () => {
    let tail = NO_TAIL;
    for (let n = 0; n < 5_000; n += 1)
      tail = addToTail(tail, make.progress(T, 'c', `line ${n} ${'x'.repeat(40)}\n`));
    tail = addToTail(tail, make.text(T, 2, `${'y'.repeat(100_000)}\nend`));
    expect(tail.reduce((sum, piece) => sum + piece.raw.length, 0)).toBeLessThanOrEqual(TAIL_KEPT * 1.25);
    const lines = toLines(fold([make.progress(T, 'c', 'a\n'.repeat(50))], tail));
    expect(lines).toHaveLength(TAIL_LINES);
    expect(lines.at(-1)).toEqual({ source: 'output', text: 'a' });
  });

  it('forgets the text of an attempt that failed, and stays the same when nothing was written', () => {
    const tail = fold([make.progress(T, 'c', 'out\n'), make.text(T, 1, 'half of')]);
    const retry = make.make(T, 'model.retry', {
      turn: 1,
      attempt: 1,
      model: 'm',
      reason: 'overloaded',
      delayMs: 10,
      message: 'busy',
    });
    expect(toLines(addToTail(tail, retry))).toEqual([{ source: 'output', text: 'out' }]);
    expect(addToTail(tail, make.started(T))).toBe(tail);
  });
});
