import type { Task } from '@vitto/contracts';
import { describe, expect, it } from 'vitest';
import { idOf } from '../../../testing/event-maker.ts';
import { taskShape } from '../../../testing/fake-shapes.ts';
import { layOutFamily, listFamily } from './family-rows.ts';

const at = (second: number) => new Date(Date.parse('2026-03-02T10:00:00Z') + second * 1000).toISOString();
const child = (number: number, index: number, more: Partial<Task> = {}): Task => ({
  ...(taskShape(idOf(number)) as Task),
  parentId: idOf(1),
  rootId: idOf(1),
  depth: 1,
  kind: 'subvitto',
  round: 1,
  index,
  createdAt: at(0),
  startedAt: null,
  ...more,
});
const show = (tasks: Task[], id = idOf(1)) =>
  listFamily(id, tasks).map(
    ({ task, level, number, after, begins }) =>
      `${begins === null ? '' : `${begins.round}/${begins.wave} `}${'-'.repeat(level)}${Number(task.id.slice(-4))} #${number}${after.length === 0 ? '' : ` after ${after.join()}`}`,
  );

describe('those below a task', () => {
  it('stand round after round and wave after wave, each with its own below it', () => {
    const tasks = [
      child(2, 0, { dependsOn: [idOf(4)] }),
      child(3, 1),
      child(4, 2),
      child(5, 3, { dependsOn: [idOf(2), idOf(3)] }),
      child(6, 0, { round: 2 }),
      child(7, 0, { parentId: idOf(3), depth: 2 }),
    ];
    expect(show(tasks)).toEqual([
      '1/1 3 #2',
      '-7 #1',
      '4 #3',
      '1/2 2 #1 after 3',
      '1/3 5 #4 after 1,2',
      '2/1 6 #5',
    ]);
    expect(show(tasks, idOf(3))).toEqual(['7 #1']);
    expect(show([child(2, 0), child(3, 1)])).toEqual(['2 #1', '3 #2']);
    expect(show([])).toEqual([]);
  });

  it('end even where they are said to wait for each other', () => {
    const circle = [child(2, 0, { dependsOn: [idOf(3)] }), child(3, 1, { dependsOn: [idOf(2)] })];
    expect(show(circle)).toHaveLength(2);
  });
});

describe('their bars', () => {
  it('go from when they were deployed over when they began to when they ended, or to now', () => {
    const rows = listFamily(idOf(1), [
      child(2, 0, { startedAt: at(0), endedAt: at(5) }),
      child(3, 1, { startedAt: at(5) }),
      child(4, 2),
      child(5, 3, { endedAt: at(2) }),
    ]);
    const { bars, from, to } = layOutFamily(rows, Date.parse(at(10)));
    expect(bars).toEqual([
      { x0: 0, x1: 0, x2: 0.5 },
      { x0: 0, x1: 0.5, x2: 1 },
      { x0: 0, x1: 1, x2: 1 },
      { x0: 0, x1: 0.2, x2: 0.2 },
    ]);
    expect(to - from).toBe(10_000);
  });
});
