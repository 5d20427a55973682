import type { Usage } from '@vitto/contracts';
import type { Model } from '../models/model.ts';
import { largestCostOf } from '../models/prices.ts';
import type { BudgetRefusal, Reservation, Settlement } from '../journal/journal.store.ts';

/** What the closing turn may use: it is reserved with the first call and held until the task ends. */
export const CLOSING_INPUT_TOKENS = 3_000;
export const CLOSING_OUTPUT_TOKENS = 1_000;
export const CLOSING_TOKENS = CLOSING_INPUT_TOKENS + CLOSING_OUTPUT_TOKENS;
/** An answer that cannot have this much room is not asked for. */
export const MIN_OUTPUT_TOKENS = 1_024;

/** Bytes of the prompt a token takes at the least, nearly: what is reserved is an upper bound of what is used. */
const BYTES_A_TOKEN = 2;

/** Upper bound of a request's input tokens: from the provider's own count of the last request where there is one. */
export function estimateInputTokens(
  bytes: number,
  measured: { inputTokens: number; bytes: number } | null,
): number {
  if (measured === null || measured.bytes > bytes) return Math.ceil(bytes / BYTES_A_TOKEN);
  return measured.inputTokens + Math.ceil((bytes - measured.bytes) / BYTES_A_TOKEN);
}

/** Billionths of a dollar for so many tokens, at the dearest way they can be billed; 0 without a price. */
export function maxCostNano(model: Model, inputTokens: number, outputTokens: number): number {
  return Math.ceil((largestCostOf(inputTokens, outputTokens, model.price) ?? 0) * 1e9);
}

export interface CallPlan {
  inputTokens: number;
  outputTokens: number;
  costNano: number;
}
export function planCall(model: Model, inputTokens: number, outputTokens: number): CallPlan {
  return { inputTokens, outputTokens, costNano: maxCostNano(model, inputTokens, outputTokens) };
}

/** A plan with so much less output that it fits what a limit has left; `null` when that is too little to be useful. */
export function shrinkPlan(
  plan: CallPlan,
  model: Model,
  refusal: BudgetRefusal,
  heldTokens: number,
  heldCostNano: number,
): CallPlan | null {
  let output: number;
  if (refusal.budget === 'tokens') {
    output = Math.floor(refusal.limit - refusal.spent - plan.inputTokens - heldTokens);
  } else {
    if (refusal.budget !== 'cost' || model.price === null) return null;
    const left =
      (refusal.limit - refusal.spent) * 1e9 - heldCostNano - maxCostNano(model, plan.inputTokens, 0);
    output = Math.floor(left / (model.price.output * 1_000)) - 1;
  }
  if (output < MIN_OUTPUT_TOKENS || output >= plan.outputTokens) return null;
  return planCall(model, plan.inputTokens, output);
}

/** What a task holds for its closing turn. */
export interface Headroom {
  tokens: number;
  costNano: number;
}
export function planHeadroom(model: Model, maxTokens: number | null): Headroom {
  // A small budget is for the work first: a quarter of it at the most closes it.
  const tokens = maxTokens === null ? CLOSING_TOKENS : Math.min(CLOSING_TOKENS, Math.floor(maxTokens / 4));
  const share = tokens / CLOSING_TOKENS;
  return {
    tokens,
    costNano: maxCostNano(
      model,
      Math.floor(CLOSING_INPUT_TOKENS * share),
      Math.floor(CLOSING_OUTPUT_TOKENS * share),
    ),
  };
}

export function toReservation(
  plan: CallPlan,
  headroom: Headroom,
  day: string,
  dailyLimitNano: number | null,
): Reservation {
  return {
    tokens: plan.inputTokens + plan.outputTokens + headroom.tokens,
    cost: plan.costNano + headroom.costNano,
    day,
    dailyLimit: dailyLimitNano,
  };
}

/** Gives a call's reservation back against what it really used. */
export function toSettlement(plan: CallPlan, used: { tokens: number; costUsd: number | null }): Settlement {
  return {
    reservedTokens: plan.inputTokens + plan.outputTokens,
    reservedCost: plan.costNano,
    tokens: used.tokens,
    cost: used.costUsd === null ? null : Math.round(used.costUsd * 1e9),
  };
}

/** Tokens that count against a budget: all that went in, cached or not, and all that came out, reasoning included. */
export function countTokens(usage: Usage): number {
  return usage.inputTokens + usage.outputTokens;
}

/** Making a formatter costs a hundred times what using it does. */
const dayFormats = new Map<string, Intl.DateTimeFormat>();

/** The calendar day in a time zone, `YYYY-MM-DD`. */
export function dayIn(timeZone: string, now: number): string {
  let format = dayFormats.get(timeZone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' });
    dayFormats.set(timeZone, format);
  }
  return format.format(now);
}
