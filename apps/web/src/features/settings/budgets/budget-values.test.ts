import { settings } from '@vitto/contracts';
import { expect, it } from 'vitest';
import { findBadFields, toChange, toValues } from './budget-values.ts';

const EMPTY = { maxIterations: '', maxTokens: '', maxCostUsd: '', minutes: '', dailyCostUsd: '' };

it('leaves out what is empty, so that the installation’s own limit counts', () => {
  expect(toChange(EMPTY)).toEqual({ budget: {}, dailyCostUsd: null });
  expect(toValues(settings.parse({}))).toEqual(EMPTY);
});

it('keeps what is set through the fields and back', () => {
  const saved = settings.parse({ budget: { maxIterations: 20, maxDurationMs: 90_000 }, dailyCostUsd: 2.5 });
  const values = toValues(saved);
  expect(values).toMatchObject({ maxIterations: '20', minutes: '1.5', dailyCostUsd: '2.5' });
  expect(toChange(values)).toEqual({ budget: saved.budget, dailyCostUsd: 2.5 });
});

it('reads a comma as the mark before the cents', () => {
  expect(toChange({ ...EMPTY, dailyCostUsd: ' 2,50 ' })).toMatchObject({ dailyCostUsd: 2.5 });
});

it('names the fields that hold no number that can be meant', () => {
  const values = {
    maxIterations: '1.5',
    maxTokens: 'many',
    maxCostUsd: '0',
    minutes: '0.5',
    dailyCostUsd: '-1',
  };
  expect([...findBadFields(values)]).toEqual(['maxIterations', 'maxTokens', 'maxCostUsd', 'dailyCostUsd']);
  expect([...findBadFields(EMPTY)]).toEqual([]);
});
