import { describe, expect, it } from 'vitest';
import { chooseRoleModels } from './choose-role-models.ts';
import { limitsOf } from './model-limits.ts';
import { parseModelList } from './parse-model-list.ts';
import { PRICE_TABLE } from './price-table.ts';
import { costOf, largestCostOf, priceOf, PRICES_DATE } from './prices.ts';

const ref = (text: string) => parseModelList(text)[0]!;
const usage = {
  inputTokens: 1_000_000,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 1_000_000,
  reasoningTokens: 0,
};

describe('a price', () => {
  it('is found with a date suffix, and through OpenRouter', () => {
    const price = PRICE_TABLE['anthropic/claude-haiku-4-5'];
    expect(price).toBeDefined();
    expect(priceOf(ref('anthropic/claude-haiku-4-5-20251001'))).toBe(price);
    expect(priceOf(ref('openrouter/anthropic/claude-haiku-4.5'))).toBe(price);
    expect(priceOf(ref('openai/gpt-5-2025-08-07'))).toBe(PRICE_TABLE['openai/gpt-5']);
  });

  it('is unknown, not zero, for a model that nobody priced', () => {
    expect(priceOf(ref('openai/gpt-99'))).toBeNull();
    expect(priceOf(ref('compatible/some-model'))).toBeNull();
    expect(costOf(usage, null)).toBeNull();
    expect(largestCostOf(1, 1, null)).toBeNull();
  });

  it('is zero on one’s own machine', () => {
    expect(costOf(usage, priceOf(ref('ollama/qwen3:8b')))).toBe(0);
    expect(costOf(usage, priceOf(ref('script:x.yaml')))).toBe(0);
  });

  it('gives way to the user’s own', () => {
    const own = { input: 1, cachedInput: 1, cacheWrite: 1, output: 1 };
    expect(costOf(usage, priceOf(ref('openai/gpt-5'), { 'openai/gpt-5': own }))).toBe(2);
    expect(priceOf(ref('openai/gpt-5'), { 'openai/gpt-5': null })).toBeNull();
  });

  it('counts cached and cache-written tokens at their rates', () => {
    const price = { input: 10, cachedInput: 1, cacheWrite: 12, output: 50 };
    const mixed = { ...usage, cachedInputTokens: 500_000, cacheWriteTokens: 100_000, outputTokens: 0 };
    expect(costOf(mixed, price)).toBeCloseTo(4 + 0.5 + 1.2, 10);
  });

  it('takes the dearer tariff for the whole of a long request', () => {
    const price = PRICE_TABLE['google/gemini-2.5-pro']!;
    const long = { ...usage, inputTokens: 200_001, outputTokens: 0 };
    expect(costOf({ ...long, inputTokens: 200_000 }, price)).toBeCloseTo(0.25, 6);
    expect(costOf(long, price)).toBeCloseTo(0.5, 4);
  });

  it('never lies below what a call can cost', () => {
    for (const price of Object.values(PRICE_TABLE)) {
      for (const cachedInputTokens of [0, 150_000]) {
        const real = { ...usage, inputTokens: 300_000, cachedInputTokens, cacheWriteTokens: 150_000 };
        expect(largestCostOf(300_000, 1_000_000, price)).toBeGreaterThanOrEqual(costOf(real, price) ?? 0);
      }
    }
  });

  it('has a date, and is known for every default model', () => {
    expect(PRICES_DATE).toMatch(/^\d{4}-\d{2}-\d{2}$/u);
    for (const provider of ['anthropic', 'openai', 'google', 'openrouter'] as const) {
      const roles = chooseRoleModels({ models: {}, providers: { [provider]: { apiKey: 'k' } } });
      for (const model of [...roles.main, ...roles.fast]) expect(priceOf(model), model.id).not.toBeNull();
    }
  });
});

describe('the sizes of a model', () => {
  it('are careful for what is unknown, and can be set', () => {
    expect(limitsOf(ref('ollama/x'))).toEqual({ contextWindow: 32_768, maxOutputTokens: 4_096 });
    expect(limitsOf(ref('ollama/x'), { 'ollama/x': { contextWindow: 131_072 } })).toEqual({
      contextWindow: 131_072,
      maxOutputTokens: 4_096,
    });
    expect(limitsOf(ref('openrouter/anthropic/claude-opus-5.5')).contextWindow).toBe(1_000_000);
    expect(limitsOf(ref('openrouter/some/model')).contextWindow).toBe(128_000);
    expect(limitsOf(ref('anthropic/claude-sonnet-4-5')).contextWindow).toBe(200_000);
  });
});
