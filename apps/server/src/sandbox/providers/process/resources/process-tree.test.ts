import { describe, expect, it } from 'vitest';
import { watchCrowd } from './process-tree.ts';

const LIMIT = 100;
let nextPid = 1;
const fresh = (count: number) => Array.from({ length: count }, () => ({ pid: (nextPid += 1), threads: 1 }));

/** What the watch says at the end of some looks, a tenth of a second apart. */
function watch(looks: { pid: number; threads: number }[][]): boolean {
  let now = 0;
  const isCrowded = watchCrowd(LIMIT, () => now);
  let last = false;
  for (const tree of looks) {
    last = isCrowded(tree);
    now += 100;
  }
  return last;
}
const repeat = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

describe('a tree at its limit of processes', () => {
  it('is crowded once it sat there for some seconds, threads counted', () => {
    const full = fresh(95);
    expect(watch(repeat(25, () => full))).toBe(false);
    expect(watch(repeat(40, () => full))).toBe(true);
    expect(watch(repeat(40, () => [{ pid: 1, threads: 95 }]))).toBe(true);
  });

  it('is not while it has room, however long', () => {
    const many = fresh(85);
    expect(watch(repeat(400, () => many))).toBe(false);
    expect(watch(repeat(400, () => fresh(40)))).toBe(false);
  });

  it('is when its processes die and are born so fast that looks miss many of them', () => {
    expect(watch(repeat(59, (index) => fresh(index % 4 === 3 ? 30 : 60)))).toBe(true);
  });

  it('is not when it comes there now and then and leaves again', () => {
    const full = fresh(95);
    expect(watch(repeat(400, (index) => (index % 20 < 10 ? full : full.slice(0, 10))))).toBe(false);
  });
});
