import type { Task } from '@vitto/contracts';
import { expect, it } from 'vitest';
import { describeSubVittos } from './sub-vittos.ts';

const task = (id: string, parentId: string, depth: number, index: number, more: Partial<Task> = {}) =>
  ({
    id,
    parentId,
    depth,
    round: 1,
    index,
    role: null,
    tier: 'vm',
    state: 'completed',
    success: true,
    spending: { iterations: 1, tokens: 10, costUsd: 0, durationMs: 1_000 },
    title: `task ${id}`,
    ...more,
  }) as Task;

it('lists them as they were deployed, theirs below them, and how each ended', () => {
  const lines = describeSubVittos(
    [
      task('c', 'root', 1, 0, { round: 2, role: 'tester', state: 'failed', success: null }),
      task('b', 'root', 1, 1, { success: false }),
      task('deep', 'a', 2, 0),
      task('a', 'root', 1, 0, { role: 'coder' }),
      task('other', 'elsewhere', 1, 0),
    ],
    'root',
  );
  expect(
    lines.map((line) =>
      line
        .trimEnd()
        .split(/ {2,}/)
        .filter((part) => part !== ''),
    ),
  ).toEqual([
    ['1.1', 'coder', 'vm', 'completed', '1.0 s', '$0.00', 'a', 'task a'],
    ['1.1', 'agent', 'vm', 'completed', '1.0 s', '$0.00', 'deep', 'task deep'],
    ['1.2', 'agent', 'vm', 'completed, no success', '1.0 s', '$0.00', 'b', 'task b'],
    ['2.1', 'tester', 'vm', 'failed', '1.0 s', '$0.00', 'c', 'task c'],
  ]);
  expect(lines[1]).toMatch(/^ {2}1\.1/);
});
