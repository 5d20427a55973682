import type { LanguageModelV4CallOptions, LanguageModelV4Usage } from '@ai-sdk/provider';
import type { Usage } from '@vitto/contracts';
import type { AssistantPart } from './model.ts';

/**
 * The provider's own numbers. `inputTokens` includes cached and cache-written ones, `outputTokens` includes reasoning.
 * `null` when the provider said nothing of use.
 */
export function readUsage(usage: LanguageModelV4Usage): Usage | null {
  const { inputTokens: input, outputTokens: output } = usage;
  const cached = count(input.cacheRead);
  const written = count(input.cacheWrite);
  const total = input.total ?? (input.noCache === undefined ? undefined : input.noCache + cached + written);
  if (total === undefined && output.total === undefined) return null;
  const reasoning = count(output.reasoning);
  return {
    inputTokens: count(total),
    cachedInputTokens: cached,
    cacheWriteTokens: written,
    outputTokens: count(output.total ?? count(output.text) + reasoning),
    reasoningTokens: reasoning,
  };
}

function count(value: number | undefined): number {
  return value === undefined || !Number.isFinite(value) ? 0 : Math.max(0, Math.round(value));
}

/** UTF-16 units a token, on the low side, so that an estimate is rather too large. */
const UNITS_PER_TOKEN = 3;

/** Stands in for the provider's numbers where it gives none, so that a budget still counts. */
export function estimateUsage(
  options: Pick<LanguageModelV4CallOptions, 'prompt' | 'tools'>,
  content: readonly AssistantPart[],
): Usage {
  return {
    inputTokens: estimateTokens([options.prompt, options.tools ?? []]),
    cachedInputTokens: 0,
    cacheWriteTokens: 0,
    outputTokens: estimateTokens(content),
    reasoningTokens: 0,
  };
}

/** A rough count of the tokens of anything that goes into a request, erring on the large side. */
export function estimateTokens(value: unknown): number {
  return Math.ceil(JSON.stringify(value).length / UNITS_PER_TOKEN);
}
