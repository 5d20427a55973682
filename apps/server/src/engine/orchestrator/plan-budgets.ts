import type { Budget, Tier } from '@vitto/contracts';
import type { BudgetLeftNow } from '../journal/sub-vitto.store.ts';
import { SMALLEST_SHARE_MS, SMALLEST_SHARE_TOKENS, type SubVittoLimits } from './limits.ts';

/** What a task that deploys others has left for them. */
export interface ParentBudget extends BudgetLeftNow {
  depth: number;
  iterationsLeft: number;
  /** Running time; `null`: no limit. */
  durationLeftMs: number | null;
  /** Running time that its sub-Vittos were given in its first round, and what all so far have used. */
  givenMs: number | null;
  usedBelowMs: number;
}

export interface RoundBudget {
  /** One for each tier of the list, in its order. */
  budgets: Budget[];
  /** What all together may spend from now on; `null`: what their parent may. */
  pool: { tokens: number | null; costNano: number | null } | null;
}

/**
 * The budgets of a round: each sub-Vitto its own, all within what the parent has left. At depth 2 all of them together
 * get a share of it (specification 03), which the database holds them to.
 * @returns why the round cannot be had instead, as a sentence for the model.
 */
export function planBudgets(
  tiers: readonly Tier[],
  parent: ParentBudget,
  limits: SubVittoLimits,
): RoundBudget | { refusal: string } {
  const isNested = parent.depth >= 1;
  const tokens = isNested ? shareOf(parent.tokens, parent.belowTokens, limits) : parent.tokens;
  const costNano = isNested ? shareOf(parent.costNano, parent.belowCostNano, limits) : parent.costNano;
  const durationMs = isNested ? shareOfTime(tiers.length, parent, limits) : parent.durationLeftMs;
  const iterations = isNested
    ? Math.floor(parent.iterationsLeft * limits.depth2Ratio)
    : Number.POSITIVE_INFINITY;
  const refusal = refuse(tiers.length, { tokens, costNano, durationMs, iterations });
  if (refusal !== null) return { refusal };
  const budgets = tiers.map((tier) => {
    const own = limits.budgets[tier === 'vm' ? 'vm' : 'other'];
    return {
      maxIterations: Math.min(own.maxIterations, iterations),
      maxTokens: Math.min(own.maxTokens, tokens ?? own.maxTokens),
      maxCostUsd: costNano === null ? null : costNano / 1e9,
      maxDurationMs: durationMs === null ? null : Math.floor(durationMs),
    };
  });
  return { budgets, pool: isNested ? { tokens, costNano } : null };
}

/** A share of what is left now, and never more than what is left of the share that was set with an earlier round. */
function shareOf(left: number | null, below: number | null, { depth2Ratio }: SubVittoLimits): number | null {
  const share = left === null ? null : Math.floor(left * depth2Ratio);
  return share === null ? below : Math.min(share, below ?? share);
}

/** Time is not reserved as it is used: each gets its part of the share beforehand, so that together they keep to it. */
function shareOfTime(
  count: number,
  { durationLeftMs, givenMs, usedBelowMs }: ParentBudget,
  { depth2Ratio }: SubVittoLimits,
): number | null {
  if (durationLeftMs === null) return null;
  const share = durationLeftMs * depth2Ratio;
  return Math.min(share, givenMs === null ? share : givenMs - usedBelowMs) / count;
}

function refuse(
  count: number,
  left: { tokens: number | null; costNano: number | null; durationMs: number | null; iterations: number },
): string | null {
  const { tokens, costNano, durationMs, iterations } = left;
  if (tokens !== null && tokens < SMALLEST_SHARE_TOKENS * count) {
    const enough = Math.max(0, Math.floor(tokens / SMALLEST_SHARE_TOKENS));
    const has = `${Math.max(0, tokens)} tokens are left for sub-Vittos`;
    return enough === 0
      ? `${has}; the smallest useful share of one is ${SMALLEST_SHARE_TOKENS}. Finish the work yourself.`
      : `${has}, enough for ${enough} at ${SMALLEST_SHARE_TOKENS} each; you asked for ${count}. Deploy the ${enough} that matter most.`;
  }
  if (costNano !== null && costNano <= 0)
    return 'No money of the budget is left for sub-Vittos. Finish the work yourself.';
  if (iterations < 1) return 'Too few steps are left for sub-Vittos. Finish the work yourself.';
  if (durationMs !== null && durationMs < SMALLEST_SHARE_MS)
    return 'Too little time is left for sub-Vittos. Finish the work yourself.';
  return null;
}
