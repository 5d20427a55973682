import { z } from 'zod';

/**
 * What a task may spend. `null` means no limit.
 * Iterations are the task's own turns; tokens and money roll up to every ancestor; duration counts running time only.
 */
export const budget = z.object({
  maxIterations: z.number().int().positive(),
  maxTokens: z.number().int().positive().nullable(),
  maxCostUsd: z.number().positive().nullable(),
  /** Milliseconds of running time; parked time does not count. */
  maxDurationMs: z.number().int().positive().nullable(),
});
export type Budget = z.infer<typeof budget>;

/** Tokens as the provider counted them. `null` where the provider did not say. */
export const usage = z.object({
  inputTokens: z.number().int().nonnegative(),
  cachedInputTokens: z.number().int().nonnegative(),
  cacheWriteTokens: z.number().int().nonnegative(),
  outputTokens: z.number().int().nonnegative(),
  reasoningTokens: z.number().int().nonnegative(),
});
export type Usage = z.infer<typeof usage>;

/** What a task has used so far. `costUsd` is `null` when any of it ran on a model without a price. */
export const spending = z.object({
  iterations: z.number().int().nonnegative(),
  tokens: z.number().int().nonnegative(),
  costUsd: z.number().nonnegative().nullable(),
  durationMs: z.number().int().nonnegative(),
});
export type Spending = z.infer<typeof spending>;
