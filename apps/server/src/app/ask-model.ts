import type { ModelTest } from '@vitto/contracts';
import { ModelError, streamTurn, type Model, type ModelLimiter, type ModelTurn } from '../engine/index.ts';
import { AppError } from '../kernel/app-error.ts';
import { systemClock } from '../kernel/clock.ts';
import { cutText } from '../kernel/text/cut.ts';
import { maskSecrets } from '../kernel/text/mask-secrets.ts';

const QUESTION = 'Answer in one short sentence: what can you help with?';
const LIMIT_MS = 30_000;
/** Some models think before they answer, and thoughts count. */
const MAX_OUTPUT_TOKENS = 1_024;
const TEXT_MAX_LENGTH = 2_000;

/**
 * Asks a model one short question on the path that tasks take: the same client, the same stream, one attempt. What it
 * costs is told but stands in no journal, so that it does not count against the day's cap; the route limits how
 * often it may be asked instead.
 */
export async function askModel(model: Model, limiter: ModelLimiter): Promise<ModelTest> {
  const startedAt = systemClock.monotonic();
  const nothing = { text: '', usage: null, costUsd: null, error: null };
  const told = (rest: Partial<ModelTest>): ModelTest => ({
    ...nothing,
    model: model.id,
    isOk: false,
    durationMs: Math.round(systemClock.monotonic() - startedAt),
    ...rest,
  });
  const limit = AbortSignal.timeout(LIMIT_MS);
  try {
    const turn = await takeOneTurn(model, limiter, limit);
    const { usage, costUsd } = turn;
    const text = maskSecrets(textOf(turn));
    if (text.trim() === '') return told({ usage, costUsd, error: EMPTY });
    return told({ isOk: true, text: cutText(text, TEXT_MAX_LENGTH), usage, costUsd });
  } catch (error) {
    if (limit.aborted) return told({ error: TOO_SLOW });
    if (!(error instanceof AppError)) throw error;
    return told({ error: toFailure(error) });
  }
}

function takeOneTurn(model: Model, limiter: ModelLimiter, signal: AbortSignal): Promise<ModelTurn> {
  return streamTurn({
    models: [model],
    options: {
      prompt: [{ role: 'user', content: [{ type: 'text', text: QUESTION }] }],
      maxOutputTokens: MAX_OUTPUT_TOKENS,
    },
    hooks: {
      beforeAttempt: () => Promise.resolve(),
      onText: () => Promise.resolve(),
      onReasoning: () => Promise.resolve(),
      onFallback: () => Promise.resolve(),
      // Somebody waits for the answer: what a task would try again is told at once.
      onRetry: ({ message }) => Promise.reject(new ModelError('model.unavailable', message, TRY_LATER)),
    },
    signal,
    clock: systemClock,
    limiter,
  });
}

const TRY_LATER = 'Check that the service runs and can be reached from here, then test again.';
const TOO_SLOW = {
  code: 'model.timeout',
  message: `It gave no whole answer within ${LIMIT_MS / 1000} seconds.`,
  hint: TRY_LATER,
};
const EMPTY = {
  code: 'model.empty-answer',
  message: 'It answered without a word of text.',
  hint: 'Check that this is a model for chats.',
};

function textOf(turn: ModelTurn): string {
  return turn.content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

/** Providers like to quote the key that they refuse. */
export function toFailure({ code, message, hint }: AppError): NonNullable<ModelTest['error']> {
  return {
    code,
    message: maskSecrets(message),
    ...(hint === undefined ? {} : { hint: maskSecrets(hint) }),
  };
}
