import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import type { Usage } from '@vitto/contracts';
import { AppError } from '../../kernel/app-error.ts';

/** A language model that is ready to be called, and what the engine must know of it. */
export interface Model {
  /** As configured: `anthropic/claude-…`, `script:FILE`, `replay:FILE`. */
  id: string;
  language: LanguageModelV4;
  /** `null` when no price is known: its cost is `null`, never 0. */
  price: Price | null;
  /** Tokens that fit a request, input and output together. */
  contextWindow: number;
  /** The largest answer that is asked for. */
  maxOutputTokens: number;
  /** True for a scripted model or a replayed recording. */
  isScripted: boolean;
  /** Models with the same key share one limiter: when one is told to wait, all wait. */
  limiterKey: string;
}

/** US dollars a million tokens. */
export interface Price {
  input: number;
  cachedInput: number;
  cacheWrite: number;
  output: number;
  /** What the whole request costs when its input is larger than `aboveTokens`. */
  longContext?: {
    aboveTokens: number;
    input: number;
    cachedInput: number;
    cacheWrite: number;
    output: number;
  };
}

/** What one finished turn gave. */
export interface ModelTurn {
  model: string;
  attempt: number;
  /** The whole assistant message, as content parts of the provider interface, provider metadata kept as `providerOptions`. */
  content: AssistantPart[];
  finishReason: string;
  usage: Usage;
  /** True when the provider gave no numbers and `usage` was estimated from the length of the texts. */
  isUsageEstimated: boolean;
  /** US dollars; `null` without a price. */
  costUsd: number | null;
  durationMs: number;
}

/** A part of an assistant message in prompt form (`LanguageModelV4Message` of role assistant). */
export type AssistantPart = Extract<
  LanguageModelV4CallOptions['prompt'][number],
  { role: 'assistant' }
>['content'][number];

/** Called while a turn runs. Each is awaited before the stream goes on: that is the back-pressure. */
export interface TurnHooks {
  /** Before every attempt, retries and fallbacks included; what it throws ends the turn (budget). */
  beforeAttempt: (model: Model, attempt: number) => Promise<void>;
  onText: (attempt: number, delta: string) => Promise<void>;
  onReasoning: (attempt: number, delta: string) => Promise<void>;
  onRetry: (info: RetryInfo) => Promise<void>;
  onFallback: (info: { from: string; to: string; reason: string }) => Promise<void>;
}

export interface RetryInfo {
  /** The attempt that failed: its text does not count. */
  attempt: number;
  model: string;
  /** `rate-limit` (429), `overloaded` (529, 503), `server` (5xx), `network`, `stalled`, `cut` (a stream that ended without a finish). */
  reason: RetryReason;
  status?: number;
  delayMs: number;
  message: string;
}
export type RetryReason = 'rate-limit' | 'overloaded' | 'server' | 'network' | 'stalled' | 'cut';

/** Every model of the list has failed, or the failure is one that no retry mends. */
export class ModelError extends AppError {
  constructor(code: string, message: string, hint?: string, options: { cause?: unknown } = {}) {
    super(code, message, { status: 502, ...(hint === undefined ? {} : { hint }), ...options });
    this.name = 'ModelError';
  }
}
