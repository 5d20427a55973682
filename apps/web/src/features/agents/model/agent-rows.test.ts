import type { Task } from '@vitto/contracts';
import { describe, expect, it } from 'vitest';
import { idOf } from '../../../testing/event-maker.ts';
import { taskShape } from '../../../testing/fake-shapes.ts';
import { listRows } from './agent-rows.ts';

const day = new Date('2026-03-02T00:00:00Z');
const task = (number: number, more: Partial<Task> = {}): Task => ({
  ...(taskShape(idOf(number)) as Task),
  createdAt: `2026-03-02T10:00:${String(number % 60).padStart(2, '0')}.000Z`,
  ...more,
});
const show = (tasks: Task[], filter: Parameters<typeof listRows>[1] = 'all') =>
  listRows(tasks, filter, day).map((row) =>
    row.kind === 'heading'
      ? `${row.part} ${row.count}`
      : `${'-'.repeat(row.level)}${Number(row.key.slice(-4))}`,
  );

describe('the rows', () => {
  it('are a tree of what is at work, then what ended today and before', () => {
    const tasks = [
      task(1),
      task(2),
      task(3, { parentId: idOf(1) }),
      task(4, { parentId: idOf(1) }),
      task(5, { state: 'completed', endedAt: '2026-03-02T09:00:00Z' }),
      task(6, { state: 'failed', endedAt: '2026-03-01T09:00:00Z' }),
    ];
    expect(show(tasks)).toEqual(['active 4', '2', '1', '-3', '-4', 'today 1', '5', 'earlier 1', '6']);
    expect(show(tasks, 'failed')).toEqual(['earlier 1', '6']);
  });

  it('keep an agent whose own task has ended', () => {
    const over = task(1, { state: 'failed', endedAt: '2026-03-02T09:00:00Z' });
    expect(show([over, task(3, { parentId: idOf(1) })])).toEqual(['active 1', '3', 'today 1', '1']);
  });
});
