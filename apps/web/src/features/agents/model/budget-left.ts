import type { Budget, Spending } from '@vitto/contracts';

export type BudgetKind = 'iterations' | 'tokens' | 'cost' | 'duration';
export interface BudgetLeft {
  kind: BudgetKind;
  /** The share that is left: 1 nothing spent, 0 all of it. */
  share: number;
  spent: number;
  limit: number;
}

/** Each limit that a task has, and how much of it is left; the tightest first. */
export function listBudgets(budget: Budget, spending: Spending): BudgetLeft[] {
  const limits: [BudgetKind, number | null, number | null][] = [
    ['iterations', spending.iterations, budget.maxIterations],
    ['tokens', spending.tokens, budget.maxTokens],
    ['cost', spending.costUsd, budget.maxCostUsd],
    ['duration', spending.durationMs, budget.maxDurationMs],
  ];
  return limits
    .flatMap(([kind, spent, limit]) =>
      spent === null || limit === null
        ? []
        : [{ kind, spent, limit, share: Math.min(1, Math.max(0, 1 - spent / limit)) }],
    )
    .sort((a, b) => a.share - b.share);
}
