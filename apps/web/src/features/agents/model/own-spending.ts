import type { Task } from '@vitto/contracts';

/** What a task has spent itself, without what is below it; `null` money where a price is not known. */
export function ownSpending({ spending, spentBelow }: Task): { tokens: number; costUsd: number | null } {
  return {
    tokens: Math.max(0, spending.tokens - spentBelow.tokens),
    costUsd:
      spending.costUsd === null || spentBelow.costUsd === null
        ? null
        : // Sums of dollars end in dust.
          Math.max(0, Math.round((spending.costUsd - spentBelow.costUsd) * 1e9) / 1e9),
  };
}
