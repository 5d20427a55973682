import { describe, expect, it } from 'vitest';
import { chooseModels } from './choose-models.ts';
import type { ModelRecord } from './choose-models.ts';

const models = [{ id: 'big' }, { id: 'mid' }, { id: 'small' }];
const choose = (records: Record<string, ModelRecord>): string[] =>
  chooseModels(models, (id) => records[id] ?? null, 'main', 'simple').map(({ id }) => id);
const record = (successes: number, outcomes: number, meanCostUsd: number | null): ModelRecord => ({
  successes,
  outcomes,
  meanCostUsd,
});

describe('the router', () => {
  it('keeps the configured order while nothing is known', () => {
    expect(choose({})).toEqual(['big', 'mid', 'small']);
  });

  it('prefers the cheapest model whose success is within 5 points of the best', () => {
    const records = { big: record(95, 100, 1), mid: record(90, 100, 0.2), small: record(89, 100, 0.01) };
    expect(choose(records)).toEqual(['mid', 'big', 'small']);
  });

  it('does not look at a model with 19 outcomes, and does at one with 20', () => {
    expect(choose({ big: record(20, 20, 1), mid: record(19, 19, 0.1) })[0]).toBe('big');
    expect(choose({ big: record(20, 20, 1), mid: record(20, 20, 0.1) })[0]).toBe('mid');
  });

  it('gives what the user put first its chance before others’ records count', () => {
    expect(choose({ big: record(3, 3, 1), mid: record(50, 50, 0.1) })[0]).toBe('big');
  });

  it('does not call an unknown cost cheap', () => {
    expect(choose({ big: record(50, 50, 1), mid: record(50, 50, null) })[0]).toBe('big');
  });

  it('counts a free local model as cheapest when it is good enough', () => {
    expect(choose({ big: record(50, 50, 1), small: record(48, 50, 0) })).toEqual(['small', 'big', 'mid']);
  });
});
