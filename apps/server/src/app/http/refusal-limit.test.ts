import { describe, expect, it } from 'vitest';
import { RefusalLimit } from './refusal-limit.ts';

describe('refusals', () => {
  it('are recorded twenty a minute for an address, and then with how many were left out', () => {
    let now = 0;
    const limit = new RefusalLimit(() => now);
    const taken = Array.from({ length: 25 }, () => limit.take('10.0.0.1'));
    expect(taken.filter((leftOut) => leftOut === 0)).toHaveLength(20);
    expect(limit.take('10.0.0.2')).toBe(0);
    now = 60_000;
    expect(limit.take('10.0.0.1')).toBe(5);
    expect(limit.take('10.0.0.1')).toBe(0);
  });
  it('remember a bounded number of addresses', () => {
    const limit = new RefusalLimit(() => 0);
    for (let i = 0; i < 5_000; i += 1) expect(limit.take(`10.0.${i >> 8}.${i & 255}`)).toBe(0);
  });
});
