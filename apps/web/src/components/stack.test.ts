import { expect, it } from 'vitest';
import { stack } from './stack.ts';

it('adds each series to all before it', () => {
  const series = [
    [1, 0, 2],
    [3, 4, 0],
    [0, 1, 1],
  ];
  expect(stack(3, series)).toEqual([
    [1, 0, 2],
    [4, 4, 2],
    [4, 5, 3],
  ]);
});
