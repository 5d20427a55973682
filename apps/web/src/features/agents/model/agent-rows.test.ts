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
const show = (
  tasks: Task[],
  filter: Parameters<typeof listRows>[1] = 'all',
  toggled: [string, boolean][] = [],
) =>
  listRows(tasks, filter, day, new Map(toggled)).map((row) =>
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

  it('keep what has ended under a task that works, in the order in which it was deployed', () => {
    const child = (number: number, more: Partial<Task>) =>
      task(number, { parentId: idOf(1), rootId: idOf(1), depth: 1, ...more });
    const ended: Partial<Task> = { state: 'completed', endedAt: '2026-03-02T10:30:00Z' };
    const tasks = [
      task(1),
      child(2, { round: 2, index: 0 }),
      child(3, { round: 1, index: 1, ...ended }),
      child(4, { round: 1, index: 0, ...ended }),
      task(5, { parentId: idOf(2), rootId: idOf(1), depth: 2, round: 1, index: 0 }),
    ];
    expect(show(tasks)).toEqual(['active 3', '1', '-4', '-3', '-2', '--5']);
    expect(show(tasks, 'all', [[idOf(2), false]])).toEqual(['active 3', '1', '-4', '-3', '-2']);
    expect(show(tasks, 'all', [[idOf(1), false]])).toEqual(['active 3', '1']);
  });

  it('close what has ended with all below it until somebody opens it', () => {
    const ended: Partial<Task> = { state: 'completed', endedAt: '2026-03-02T10:30:00Z' };
    const root = task(1, { ...ended, spentBelow: { tokens: 10, costUsd: 0 } });
    const tasks = [root, task(2, { parentId: idOf(1), rootId: idOf(1), depth: 1, ...ended })];
    expect(show(tasks)).toEqual(['today 1', '1']);
    expect(show(tasks, 'all', [[idOf(1), true]])).toEqual(['today 1', '1', '-2']);
    const row = listRows([root], 'all', day).at(-1);
    expect(row).toMatchObject({ isOpen: false });
    expect(listRows([task(7)], 'all', day).at(-1)).toMatchObject({ isOpen: null });
  });

  it('keep an agent whose own task has ended', () => {
    const over = task(1, { state: 'failed', endedAt: '2026-03-02T09:00:00Z' });
    expect(show([over, task(3, { parentId: idOf(1) })])).toEqual(['active 1', '3', 'today 1', '1']);
  });
});
