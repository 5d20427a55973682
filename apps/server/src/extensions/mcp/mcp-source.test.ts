import { describe, expect, it } from 'vitest';
import type { Tool } from '../../engine/index.ts';
import { shareOut } from './mcp-source.ts';

const plugin = (name: string, count: number) => ({
  name,
  tools: Array.from({ length: count }, (_, index) => ({ name: `${name}${index}` }) as Tool),
});
const counts = (sizes: number[], places: number) => {
  const { kept, left } = shareOut(
    sizes.map((size, index) => plugin(`s${index}`, size)),
    places,
  );
  return [...kept.map(({ tools }) => tools.length), left];
};

describe('the places for tools of MCP servers', () => {
  it('are for all tools where there are enough', () => {
    expect(counts([3, 0, 5], 96)).toEqual([3, 0, 5, 0]);
    expect(counts([], 96)).toEqual([0]);
  });
  it('are shared, so that a large server leaves room for small ones', () => {
    expect(counts([128, 4, 10], 96)).toEqual([82, 4, 10, 46]);
    expect(counts([128, 128], 96)).toEqual([48, 48, 160]);
    expect(counts([2, 2, 2], 4)).toEqual([2, 1, 1, 2]);
  });
  it('go to the first tools of each', () => {
    const { kept } = shareOut([plugin('a', 3), plugin('b', 1)], 3);
    expect(kept.flatMap(({ tools }) => tools.map(({ name }) => name))).toEqual(['a0', 'a1', 'b0']);
  });
});
