import type { Costs } from '@vitto/contracts';
import { expect, it } from 'vitest';
import { listDays, toSeries } from './cost-series.ts';

const amount = (costUsd: number) => ({
  turns: 1,
  inputTokens: costUsd * 100,
  cachedInputTokens: 0,
  outputTokens: 1,
  costUsd,
  unpricedTurns: 0,
});
const costs = {
  from: '2026-02-27',
  to: '2026-03-02',
  days: [
    { day: '2026-02-27', model: 'a', ...amount(1) },
    { day: '2026-03-01', model: 'a', ...amount(2) },
    { day: '2026-03-01', model: 'b', ...amount(5) },
    { day: '2026-03-02', model: 'c', ...amount(0.5) },
  ],
  models: [
    { model: 'a', ...amount(3) },
    { model: 'b', ...amount(5) },
    { model: 'c', ...amount(0.5) },
  ],
} as unknown as Costs;

it('has every day, also those without use', () => {
  expect(listDays(costs)).toEqual(['2026-02-27', '2026-02-28', '2026-03-01', '2026-03-02']);
});

it('orders the models by what they come to', () => {
  expect(toSeries(costs, 'cost', { most: 6, others: 'others' }).series).toEqual([
    { name: 'b', values: [0, 0, 5, 0] },
    { name: 'a', values: [1, 0, 2, 0] },
    { name: 'c', values: [0, 0, 0, 0.5] },
  ]);
});

it('puts those beyond the number of colours together', () => {
  expect(toSeries(costs, 'tokens', { most: 2, others: 'others' }).series).toEqual([
    { name: 'b', values: [0, 0, 501, 0] },
    { name: 'others', values: [101, 0, 201, 51] },
  ]);
});
