import type { ModelRef } from './parse-model-list.ts';
import { plainModelIds } from './plain-model-ids.ts';

/** Sizes in tokens. */
export interface ModelLimits {
  /** Input and output together. */
  contextWindow: number;
  /** The largest answer that is asked for. */
  maxOutputTokens: number;
}

/**
 * Answers longer than this are not asked for, though newer models allow 128,000: the whole of it is reserved
 * from the budget before each call, and no step of an agent needs more.
 */
const LARGEST_ANSWER = 32_000;

const window = (contextWindow: number, maxOutputTokens = LARGEST_ANSWER): ModelLimits => ({
  contextWindow,
  maxOutputTokens: Math.min(maxOutputTokens, LARGEST_ANSWER),
});

/** First match wins. Unknown models get sizes that every model of that provider surely has. */
const LIMITS: readonly [RegExp, ModelLimits][] = [
  [/^anthropic\/claude-(?:fable-5|opus-5|opus-4-[78]|sonnet-5|haiku-5)/u, window(1_000_000)],
  [/^anthropic\/claude-3-haiku/u, window(200_000, 4_096)],
  [/^anthropic\/claude-3/u, window(200_000, 8_192)],
  [/^anthropic\//u, window(200_000)],
  [/^openai\/gpt-(?:6|5\.[4-6])(?:\.\d+)?-(?:mini|nano)/u, window(400_000)],
  [/^openai\/gpt-(?:6|5\.[4-6])/u, window(1_000_000)],
  [/^openai\/gpt-5/u, window(400_000)],
  [/^openai\/gpt-4\.1/u, window(1_000_000)],
  [/^openai\/o[134]/u, window(200_000)],
  [/^openai\//u, window(128_000, 16_384)],
  [/^google\/gemini-(?:4|3|2\.5)/u, window(1_000_000)],
  [/^google\//u, window(1_000_000, 8_192)],
  [/^openrouter\//u, window(128_000, 8_192)],
  // A server of one's own cuts the input silently when it is longer than the window it was started with.
  [/^(?:ollama|compatible)\//u, window(32_768, 4_096)],
];

const UNKNOWN = window(32_768, 4_096);

/** The sizes of a configured model; `overrides` by `provider/model` win field by field. */
export function limitsOf(
  ref: ModelRef,
  overrides: Readonly<Record<string, Partial<ModelLimits>>> = {},
): ModelLimits {
  const own = Object.hasOwn(overrides, ref.id) ? overrides[ref.id] : undefined;
  return { ...tableLimits(ref), ...own };
}

function tableLimits(ref: ModelRef): ModelLimits {
  if (ref.kind !== 'provider') return window(200_000);
  // The most exact name comes first, but the vendor's own entry says more than "some OpenRouter model".
  for (const id of plainModelIds(ref).reverse()) {
    const found = LIMITS.find(([pattern]) => pattern.test(id));
    if (found) return found[1];
  }
  return UNKNOWN;
}
