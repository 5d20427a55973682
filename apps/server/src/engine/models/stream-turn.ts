import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { handleType, retry } from 'cockatiel';
import type { Clock } from '../../kernel/clock.ts';
import { classifyFailure } from './classify-failure.ts';
import { backoffMs, LONGEST_WAIT_MS } from './limiter.ts';
import type { ModelLimiter } from './limiter.ts';
import { ModelError } from './model.ts';
import type { Model, ModelTurn, TurnHooks } from './model.ts';
import { runAttempt } from './run-attempt.ts';
import { SILENCE_LIMITS } from './silence-watch.ts';
import type { SilenceLimits } from './silence-watch.ts';
import type { TurnFailure } from './turn-failure.ts';
import { toWellFormedPrompt } from './well-formed.ts';

/** Tries of one model before the next (specification 01, "Models"). */
const TRIES = 3;

/**
 * How long the last model of the list is waited for when it limits or is overloaded, in milliseconds from the start of
 * the turn. Such waits are not counted as tries: an outage must not cost a task that has hours of budget left.
 */
const PATIENCE_MS = 600_000;

export interface TurnRequest {
  /** In the order they are tried. */
  models: readonly Model[];
  /** Prompt, tools and settings. `maxOutputTokens` is cut to what the model in use gives. */
  options: Omit<LanguageModelV4CallOptions, 'abortSignal' | 'headers' | 'includeRawChunks'>;
  hooks: TurnHooks;
  signal: AbortSignal;
  clock: Clock;
  /** One for the process. */
  limiter: ModelLimiter;
  /** In [0, 1), for jitter. */
  random?: () => number;
  silence?: SilenceLimits;
}

/**
 * Gives one whole turn of the first model that can: streams, retries with backoff, falls back. Throws `ModelError` when
 * none can, the signal's reason on abort, and whatever a hook throws. A stream that broke, stalled or ended
 * without a finish is never an answer.
 */
export async function streamTurn(request: TurnRequest): Promise<ModelTurn> {
  const turn = new TurnRun(request);
  const failed: ModelError[] = [];
  for (const [index, model] of request.models.entries()) {
    const next = request.models[index + 1];
    try {
      return await turn.ask(model, next === undefined);
    } catch (error) {
      // Whatever way a wait or a package tells of an abort, the reason is the truth.
      if (request.signal.aborted) throw request.signal.reason;
      if (!(error instanceof ModelSpent)) throw error;
      failed.push(error.error);
      if (next === undefined) break;
      await request.hooks.onFallback({ from: model.id, to: next.id, reason: error.error.message });
    }
  }
  throw summarise(failed);
}

/** The model is given up; the next may be asked. */
class ModelSpent extends Error {
  readonly error: ModelError;
  constructor(error: ModelError) {
    super(error.message);
    this.error = error;
  }
}

/** The attempt failed and another of the same model follows; the wait for it is the next attempt's first step. */
class TryAgain extends Error {}

class TurnRun {
  readonly #request: TurnRequest;
  readonly #options: LanguageModelV4CallOptions;
  readonly #random: () => number;
  readonly #patientUntil: number;
  /** Over all models of the turn. */
  #attempts = 0;

  constructor(request: TurnRequest) {
    this.#request = request;
    this.#options = { ...request.options, prompt: toWellFormedPrompt(request.options.prompt) };
    this.#random = request.random ?? Math.random;
    this.#patientUntil = request.clock.now() + PATIENCE_MS;
  }

  /** Throws `ModelSpent` when this model is given up. */
  ask(model: Model, isLast: boolean): Promise<ModelTurn> {
    const { signal, limiter } = this.#request;
    if (!isLast && limiter.askedMs(model.limiterKey) > LONGEST_WAIT_MS) {
      throw new ModelSpent(unavailable(`${model.id} has asked to be left alone for a long time`));
    }
    const state = { tries: 0, waitMs: 0 };
    // The waits are ours (on the engine's clock, shared by key, abortable), so the policy itself waits for nothing.
    const policy = retry(handleType(TryAgain), { maxAttempts: Number.MAX_SAFE_INTEGER, backoff: NO_WAIT });
    return policy.execute(() => this.#try(model, isLast, state), signal);
  }

  async #try(model: Model, isLast: boolean, state: { tries: number; waitMs: number }): Promise<ModelTurn> {
    const { clock, limiter, signal, hooks } = this.#request;
    signal.throwIfAborted();
    if (state.waitMs > 0) await clock.sleep(state.waitMs, signal);
    await limiter.enter(model.limiterKey, signal);
    const number = (this.#attempts += 1);
    let isSettled = false;
    const settle = (): void => {
      isSettled = true;
      limiter.admitted(model.limiterKey);
    };
    try {
      await hooks.beforeAttempt(model, number);
      return await this.#attempt(model, number, settle);
    } catch (error) {
      const failure = signal.aborted ? null : classifyFailure(error, model.id, clock.now());
      if (failure === null) throw error;
      isSettled ||= isAboutLimits(failure);
      throw await this.#judge(failure, model, number, isLast, state);
    } finally {
      if (!isSettled) limiter.left(model.limiterKey);
    }
  }

  #attempt(model: Model, number: number, onAdmitted: () => void): Promise<ModelTurn> {
    const { hooks, signal, clock } = this.#request;
    const asked = this.#options.maxOutputTokens ?? model.maxOutputTokens;
    return runAttempt({
      model,
      number,
      options: { ...this.#options, maxOutputTokens: Math.min(asked, model.maxOutputTokens) },
      hooks,
      signal,
      clock,
      silence: this.#request.silence ?? SILENCE_LIMITS,
      onAdmitted,
    });
  }

  /** What to throw for a failed attempt. */
  async #judge(
    failure: TurnFailure,
    model: Model,
    attempt: number,
    isLast: boolean,
    state: { tries: number; waitMs: number },
  ): Promise<Error> {
    if (failure.then === 'stop') return failure.error;
    if (failure.then === 'fallback') return new ModelSpent(failure.error);
    const { clock, limiter, hooks } = this.#request;
    const isShared = isAboutLimits(failure);
    const delayMs = isShared
      ? limiter.refused(model.limiterKey, failure.askedMs)
      : backoffMs(state.tries, this.#random());
    state.tries += 1;
    const isAbsurd = (failure.askedMs ?? 0) > LONGEST_WAIT_MS;
    const message = isAbsurd
      ? `${failure.message}; it asks to wait ${inWords(failure.askedMs ?? 0)}`
      : failure.message;
    const mayGoOn =
      isLast && isShared
        ? clock.now() + delayMs <= this.#patientUntil
        : state.tries < TRIES && !(isAbsurd && !isLast);
    if (!mayGoOn) return new ModelSpent(unavailable(message));

    // The limiter holds a shared wait for all; an own one is slept at the start of the next attempt.
    state.waitMs = isShared ? 0 : delayMs;
    const { reason, status } = failure;
    const known = status === undefined ? {} : { status };
    await hooks.onRetry({
      attempt,
      model: model.id,
      reason,
      ...known,
      delayMs: Math.round(delayMs),
      message,
    });
    return new TryAgain(message);
  }
}

const NO_WAIT = { duration: 0, next: () => NO_WAIT };

function isAboutLimits(failure: TurnFailure): boolean {
  return failure.then === 'retry' && (failure.reason === 'rate-limit' || failure.reason === 'overloaded');
}

function unavailable(message: string): ModelError {
  return new ModelError('model.unavailable', message, 'Try again later, or add a fallback model.');
}

function summarise(failed: ModelError[]): ModelError {
  const last = failed.at(-1);
  if (last === undefined) {
    return new ModelError(
      'model.not-configured',
      'No model is set up.',
      'Paste a provider key or pick a local model in the set-up page, or set VITTO_MODEL.',
    );
  }
  if (failed.length === 1) return last;
  const all = failed.map((error) => error.message).join(' | ');
  return new ModelError(last.code, `None of the ${failed.length} models answered: ${all}`, last.hint);
}

function inWords(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  return minutes < 120 ? `${minutes} minutes` : `${Math.round(minutes / 60)} hours`;
}
