import type { Usage } from '@vitto/contracts';
import type { Price } from './model.ts';
import { PRICE_TABLE } from './price-table.ts';
import type { ModelRef } from './parse-model-list.ts';
import { plainModelIds } from './plain-model-ids.ts';

export { PRICES_DATE } from './price-table.ts';

/** What runs on the user's own machine, and what is not a model at all, costs nothing. */
export const FREE: Price = { input: 0, cachedInput: 0, cacheWrite: 0, output: 0 };

/**
 * The price of a configured model. `overrides` are the user's own prices by `provider/model`, and win; `null` in them
 * takes a price away. Models that nobody priced give `null`. Ollama is free; a `compatible` endpoint may be
 * anything, so it has a price only when the user gives one.
 */
export function priceOf(ref: ModelRef, overrides: Readonly<Record<string, Price | null>> = {}): Price | null {
  if (Object.hasOwn(overrides, ref.id)) return overrides[ref.id] ?? null;
  if (ref.kind !== 'provider' || ref.provider === 'ollama') return FREE;
  for (const id of plainModelIds(ref)) {
    if (Object.hasOwn(PRICE_TABLE, id)) return PRICE_TABLE[id] ?? null;
  }
  return null;
}

/** US dollars for one call; `null` without a price. Cached and cache-written tokens are part of `inputTokens`. */
export function costOf(usage: Usage, price: Price | null): number | null {
  if (price === null) return null;
  const rates = ratesFor(price, usage.inputTokens);
  const fresh = Math.max(0, usage.inputTokens - usage.cachedInputTokens - usage.cacheWriteTokens);
  return (
    (fresh * rates.input +
      usage.cachedInputTokens * rates.cachedInput +
      usage.cacheWriteTokens * rates.cacheWrite +
      usage.outputTokens * rates.output) /
    1_000_000
  );
}

/** The most a call can cost: nothing cached, all of the input written to the cache at its rate, all output used. */
export function largestCostOf(
  inputTokens: number,
  maxOutputTokens: number,
  price: Price | null,
): number | null {
  if (price === null) return null;
  const rates = ratesFor(price, inputTokens);
  return (inputTokens * Math.max(rates.input, rates.cacheWrite) + maxOutputTokens * rates.output) / 1_000_000;
}

function ratesFor(price: Price, inputTokens: number): Omit<Price, 'longContext'> {
  const { longContext } = price;
  return longContext !== undefined && inputTokens > longContext.aboveTokens ? longContext : price;
}
