import type { Settings } from '@vitto/contracts';
import type { SettingsChange } from '../settings-api.ts';

/** What stands in the fields. */
export interface BudgetValues {
  maxIterations: string;
  maxTokens: string;
  maxCostUsd: string;
  minutes: string;
  dailyCostUsd: string;
}
export type BudgetField = keyof BudgetValues;

export const WHOLE: readonly BudgetField[] = ['maxIterations', 'maxTokens'];
const MINUTE_MS = 60_000;

export function toValues({ budget, dailyCostUsd }: Settings): BudgetValues {
  const { maxDurationMs = null } = budget;
  return {
    maxIterations: toText(budget.maxIterations),
    maxTokens: toText(budget.maxTokens),
    maxCostUsd: toText(budget.maxCostUsd),
    minutes: toText(maxDurationMs === null ? null : maxDurationMs / MINUTE_MS),
    dailyCostUsd: toText(dailyCostUsd),
  };
}

/** The fields that hold no number that can be meant. */
export function findBadFields(values: BudgetValues): Set<BudgetField> {
  const bad = (Object.keys(values) as BudgetField[]).filter((field) => {
    const number = toNumber(values[field]);
    if (number === null) return false;
    return !(Number.isFinite(number) && number > 0) || (WHOLE.includes(field) && !Number.isInteger(number));
  });
  return new Set(bad);
}

/** An empty field is left out: the installation's own limit counts then. */
export function toChange(values: BudgetValues): SettingsChange {
  const maxIterations = toNumber(values.maxIterations);
  const maxTokens = toNumber(values.maxTokens);
  const maxCostUsd = toNumber(values.maxCostUsd);
  const minutes = toNumber(values.minutes);
  return {
    budget: {
      ...(maxIterations === null ? {} : { maxIterations }),
      ...(maxTokens === null ? {} : { maxTokens }),
      ...(maxCostUsd === null ? {} : { maxCostUsd }),
      ...(minutes === null ? {} : { maxDurationMs: Math.max(1, Math.round(minutes * MINUTE_MS)) }),
    },
    dailyCostUsd: toNumber(values.dailyCostUsd),
  };
}

/** `null` for an empty field, `NaN` for what is no number. A comma is read as people of this language write it. */
function toNumber(text: string): number | null {
  const trimmed = text.trim().replace(',', '.');
  return trimmed === '' ? null : Number(trimmed);
}

function toText(value: number | null | undefined): string {
  return value === null || value === undefined ? '' : String(value);
}
