import { describe, expect, it } from 'vitest';
import type { SubVittoLimits } from './limits.ts';
import { planBudgets, type ParentBudget } from './plan-budgets.ts';

const limits: SubVittoLimits = {
  maxParallel: 5,
  maxRounds: 3,
  maxDepth: 2,
  depth2Ratio: 0.5,
  depth2MaxTools: 5,
  budgets: {
    vm: { maxIterations: 20, maxTokens: 80_000 },
    other: { maxIterations: 10, maxTokens: 100_000 },
  },
};
const root: ParentBudget = {
  depth: 0,
  iterationsLeft: 49,
  tokens: 500_000,
  costNano: null,
  belowTokens: null,
  belowCostNano: null,
  durationLeftMs: null,
  givenMs: null,
  usedBelowMs: 0,
};
const nested: ParentBudget = { ...root, depth: 1, iterationsLeft: 8, tokens: 60_000 };

describe('the budgets of a round', () => {
  it('are the defaults of their tiers at depth 1, admitted together beyond what the parent has', () => {
    const planned = planBudgets(['vm', 'in-process', 'in-process'], { ...root, tokens: 150_000 }, limits);
    expect(planned).toMatchObject({
      pool: null,
      budgets: [
        { maxIterations: 20, maxTokens: 80_000, maxCostUsd: null, maxDurationMs: null },
        { maxIterations: 10, maxTokens: 100_000 },
        { maxIterations: 10, maxTokens: 100_000 },
      ],
    });
  });

  it('never exceed what the parent has left', () => {
    const planned = planBudgets(
      ['vm'],
      { ...root, tokens: 30_000, costNano: 2e9, durationLeftMs: 9_000 },
      limits,
    );
    expect(planned).toMatchObject({
      budgets: [{ maxTokens: 30_000, maxCostUsd: 2, maxDurationMs: 9_000 }],
    });
  });

  it('share half of it at depth 2: 60,000 left are 30,000 for three together', () => {
    const planned = planBudgets(['in-process', 'in-process', 'in-process'], nested, limits);
    expect(planned).toMatchObject({
      pool: { tokens: 30_000, costNano: null },
      budgets: [{ maxIterations: 4, maxTokens: 30_000 }, { maxTokens: 30_000 }, { maxTokens: 30_000 }],
    });
  });

  it('leave a later round at depth 2 no more than what is left of the first share', () => {
    const planned = planBudgets(['in-process'], { ...nested, tokens: 50_000, belowTokens: 8_000 }, limits);
    expect(planned).toMatchObject({ pool: { tokens: 8_000 } });
    const small = planBudgets(['in-process'], { ...nested, tokens: 12_000, belowTokens: 20_000 }, limits);
    expect(small).toMatchObject({ pool: { tokens: 6_000 } });
  });

  it('divide half of the time at depth 2, over all rounds', () => {
    const first = planBudgets(['in-process', 'in-process'], { ...nested, durationLeftMs: 40_000 }, limits);
    expect(first).toMatchObject({ budgets: [{ maxDurationMs: 10_000 }, { maxDurationMs: 10_000 }] });
    const second = planBudgets(
      ['in-process'],
      { ...nested, durationLeftMs: 38_000, givenMs: 20_000, usedBelowMs: 15_000 },
      limits,
    );
    expect(second).toMatchObject({ budgets: [{ maxDurationMs: 5_000 }] });
  });

  it.each([
    [{ tokens: 4_999 }, 1, /4999 tokens are left.*smallest useful share of one is 5000/],
    [{ tokens: 36_000 }, 50, /enough for 7 at 5000 each; you asked for 50/],
    [{ tokens: -3 }, 1, /^0 tokens/],
    [{ costNano: 0 }, 1, /No money/],
    [{ durationLeftMs: 500 }, 1, /Too little time/],
  ] as const)('are refused with %j for %i, with the reason', (left, count, reason) => {
    const tiers = Array.from({ length: count }, () => 'in-process' as const);
    expect(planBudgets(tiers, { ...root, ...left }, limits)).toEqual({
      refusal: expect.stringMatching(reason),
    });
  });

  it('are refused at depth 2 when half of a step is left', () => {
    expect(planBudgets(['in-process'], { ...nested, iterationsLeft: 1 }, limits)).toEqual({
      refusal: expect.stringContaining('Too few steps'),
    });
  });
});
