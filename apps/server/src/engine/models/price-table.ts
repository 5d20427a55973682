import type { Price } from './model.ts';

/** When the list prices below were read. Shown wherever a price is shown. */
export const PRICES_DATE = '2026-11-30';

/** US dollars a million tokens: input, cached input, cache write, output. */
type Row = [input: number, cachedInput: number, cacheWrite: number, output: number];

const row = ([input, cachedInput, cacheWrite, output]: Row): Price => ({
  input,
  cachedInput,
  cacheWrite,
  output,
});

/** A price with the dearer tariff that holds for the whole request above `aboveTokens` of input. */
const tiered = (short: Row, aboveTokens: number, long: Row): Price => ({
  ...row(short),
  longContext: { aboveTokens, ...row(long) },
});

/** OpenAI's rule: above 272,000 tokens of input everything read costs twice, everything written one and a half times. */
const longAt272k = ([input, cachedInput, cacheWrite, output]: Row): Price =>
  tiered([input, cachedInput, cacheWrite, output], 272_000, [
    input * 2,
    cachedInput * 2,
    cacheWrite * 2,
    output * 1.5,
  ]);

/**
 * List prices by `provider/model`, without date suffixes. Where a rise is already announced the higher price stands
 * (gemini-4-argon from 2026-12-01, gemini-3.8-flash from 2027-01-01): a money cap must err on the safe side.
 * A model that is not here has no price: its cost is `null`.
 */
export const PRICE_TABLE: Readonly<Record<string, Price>> = {
  'anthropic/claude-fable-5-1': row([10, 0.25, 12.5, 50]),
  'anthropic/claude-fable-5': row([10, 1, 12.5, 50]),
  'anthropic/claude-opus-5-5': row([4, 0.2, 5, 20]),
  'anthropic/claude-opus-5': row([5, 0.5, 6.25, 25]),
  'anthropic/claude-opus-4-8': row([5, 0.5, 6.25, 25]),
  'anthropic/claude-opus-4-7': row([5, 0.5, 6.25, 25]),
  'anthropic/claude-opus-4-6': row([5, 0.5, 6.25, 25]),
  'anthropic/claude-opus-4-5': row([5, 0.5, 6.25, 25]),
  'anthropic/claude-opus-4-1': row([15, 1.5, 18.75, 75]),
  'anthropic/claude-sonnet-5-5': row([2, 0.2, 2.5, 10]),
  'anthropic/claude-sonnet-5': row([2, 0.2, 2.5, 10]),
  'anthropic/claude-sonnet-4-6': row([3, 0.3, 3.75, 15]),
  'anthropic/claude-sonnet-4-5': row([3, 0.3, 3.75, 15]),
  'anthropic/claude-haiku-4-5': row([1, 0.1, 1.25, 5]),

  'openai/gpt-6.2-astra': longAt272k([8, 0.4, 10, 40]),
  'openai/gpt-6.2-sol': longAt272k([2, 0.1, 2.5, 10]),
  'openai/gpt-6.1-sol': longAt272k([2, 0.1, 2.5, 10]),
  'openai/gpt-6-astra': longAt272k([10, 1, 12.5, 50]),
  'openai/gpt-6-sol': longAt272k([2, 0.2, 2.5, 10]),
  'openai/gpt-6-luna': longAt272k([0.1, 0.01, 0.125, 0.5]),
  'openai/gpt-5.6-terra': longAt272k([2, 0.2, 2, 12]),
  'openai/gpt-5.6-luna': longAt272k([0.2, 0.02, 0.2, 1.2]),
  'openai/gpt-5.5': longAt272k([5, 0.5, 5, 30]),
  'openai/gpt-5.4': longAt272k([2.5, 0.25, 2.5, 15]),
  'openai/gpt-5.4-mini': row([0.75, 0.075, 0.75, 4.5]),
  'openai/gpt-5.4-nano': row([0.2, 0.02, 0.2, 1.25]),
  'openai/gpt-5.2': row([1.75, 0.175, 1.75, 14]),
  'openai/gpt-5.1': row([1.25, 0.125, 1.25, 10]),
  'openai/gpt-5': row([1.25, 0.125, 1.25, 10]),
  'openai/gpt-5-mini': row([0.25, 0.025, 0.25, 2]),
  'openai/gpt-5-nano': row([0.05, 0.005, 0.05, 0.4]),
  'openai/gpt-4.1': row([2, 0.5, 2, 8]),
  'openai/gpt-4.1-mini': row([0.4, 0.1, 0.4, 1.6]),
  'openai/gpt-4.1-nano': row([0.1, 0.025, 0.1, 0.4]),
  'openai/gpt-4o': row([2.5, 1.25, 2.5, 10]),
  'openai/gpt-4o-mini': row([0.15, 0.075, 0.15, 0.6]),
  'openai/o3': row([2, 0.5, 2, 8]),
  'openai/o4-mini': row([1.1, 0.275, 1.1, 4.4]),

  'google/gemini-4-neon': row([3, 0.15, 3, 15]),
  'google/gemini-4-argon': row([4, 0.2, 4, 20]),
  'google/gemini-4-hydrogen': row([1.5, 0.075, 1.5, 7.5]),
  'google/gemini-3.8-flash': row([1.5, 0.15, 1.5, 7.5]),
  'google/gemini-3.5-flash': row([1.5, 0.15, 1.5, 9]),
  'google/gemini-3.1-pro-preview': tiered([2, 0.2, 2, 12], 200_000, [4, 0.4, 4, 18]),
  'google/gemini-3-pro-preview': tiered([2, 0.2, 2, 12], 200_000, [4, 0.4, 4, 18]),
  'google/gemini-3-flash-preview': row([0.5, 0.05, 0.5, 3]),
  'google/gemini-2.5-pro': tiered([1.25, 0.125, 1.25, 10], 200_000, [2.5, 0.25, 2.5, 15]),
  'google/gemini-2.5-flash': row([0.3, 0.03, 0.3, 2.5]),
  'google/gemini-2.5-flash-lite': row([0.1, 0.01, 0.1, 0.4]),
};
