import { expect, it } from 'vitest';
import { checkDependencies } from './check-dependencies.ts';

it('lets pass what can run, whatever the order of the list', () => {
  expect(checkDependencies([[], [], []])).toBeNull();
  expect(checkDependencies([[2], [0, 2], [], []])).toBeNull();
  expect(checkDependencies([[1, 1], []])).toBeNull();
});

it('names an index that is none', () => {
  expect(checkDependencies([[], [7]])).toBe('tasks.1.dependsOn: there is no task 7; indices go from 0 to 1.');
});

it('shows the ring, not what only hangs on it', () => {
  expect(checkDependencies([[1], [2], [1], []])).toContain('(1 → 2 → 1)');
  expect(checkDependencies([[0]])).toContain('(0 → 0)');
  expect(checkDependencies([[2], [0], [1]])).toContain('(0 → 2 → 1 → 0)');
});

it('takes a chain of a hundred', () => {
  expect(checkDependencies(Array.from({ length: 100 }, (_, at) => (at === 99 ? [] : [at + 1])))).toBeNull();
});
