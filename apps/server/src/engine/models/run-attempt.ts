import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import type { Clock } from '../../kernel/clock.ts';
import { TurnCollector } from './collect-turn.ts';
import type { Model, ModelTurn, TurnHooks } from './model.ts';
import { costOf } from './prices.ts';
import { estimateUsage, readUsage } from './read-usage.ts';
import { SilenceWatch } from './silence-watch.ts';
import type { SilenceLimits } from './silence-watch.ts';
import { noticeBytes } from './signs-of-life.ts';
import { StreamCut } from './turn-failure.ts';

export interface Attempt {
  model: Model;
  number: number;
  options: LanguageModelV4CallOptions;
  hooks: TurnHooks;
  signal: AbortSignal;
  clock: Clock;
  silence: SilenceLimits;
  /** Called when the provider has accepted the request. */
  onAdmitted: () => void;
}

/**
 * Calls the model once and reads its whole stream. Throws what the provider gave for a failure, `StreamStalled` or
 * `StreamCut` where the stream gave none, the signal's reason on abort, and what a hook throws.
 */
export async function runAttempt(attempt: Attempt): Promise<ModelTurn> {
  const { model, clock, signal } = attempt;
  const startedAt = clock.monotonic();
  const watch = new SilenceWatch(clock, attempt.silence);
  const abortSignal = AbortSignal.any([signal, watch.signal]);
  const aborted = rejectionOf(abortSignal);
  noticeBytes(abortSignal, () => watch.saw(false));
  try {
    const call = model.language.doStream({ ...attempt.options, abortSignal });
    const { stream } = await Promise.race([call, aborted.promise]);
    watch.saw(true);
    const collector = new TurnCollector(providerOf(model));
    await readStream(stream, collector, attempt, watch, aborted.promise);
    return finishTurn(collector, attempt, clock.monotonic() - startedAt);
  } catch (error) {
    // Whatever way a provider package tells of an abort, the reason is the truth.
    throw abortSignal.aborted ? abortSignal.reason : error;
  } finally {
    watch.stop();
    aborted.dispose();
  }
}

/** `anthropic` of `anthropic/claude-…`, `script` of `script:FILE`. */
export function providerOf(model: Pick<Model, 'id'>): string {
  return /^[a-z]+/u.exec(model.id)?.[0] ?? model.id;
}

async function readStream(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  collector: TurnCollector,
  attempt: Attempt,
  watch: SilenceWatch,
  aborted: Promise<never>,
): Promise<void> {
  const reader = stream.getReader();
  let isAdmitted = false;
  try {
    for (;;) {
      const { done, value: part } = await Promise.race([reader.read(), aborted]);
      if (done) return;
      watch.saw(part.type !== 'ping');
      if (part.type === 'error') throw part.error;
      if (!isAdmitted && part.type !== 'stream-start') {
        isAdmitted = true;
        attempt.onAdmitted();
      }
      const shown = collector.add(part);
      if (shown !== '') await watch.pausedFor(show(part, shown, attempt));
      if (part.type === 'finish') return;
    }
  } finally {
    // The provider's connection is closed, not drained.
    void reader.cancel().catch(() => {});
  }
}

function show(part: LanguageModelV4StreamPart, text: string, { hooks, number }: Attempt): Promise<void> {
  return part.type.startsWith('text') ? hooks.onText(number, text) : hooks.onReasoning(number, text);
}

function finishTurn(collector: TurnCollector, attempt: Attempt, durationMs: number): ModelTurn {
  const { model, options } = attempt;
  const { finish } = collector;
  if (finish === null || isCut(finish.reason)) {
    throw new StreamCut('the answer ended before it was finished');
  }
  const content = collector.content();
  const told = readUsage(finish.usage);
  const usage = told ?? estimateUsage(options, content);
  return {
    model: model.id,
    attempt: attempt.number,
    content,
    finishReason: finish.reason.unified,
    usage,
    isUsageEstimated: told === null,
    costUsd: costOf(usage, model.price),
    durationMs,
  };
}

/** Provider packages close every stream with a finish, also one that the provider never finished. */
function isCut({ unified }: { unified: string }): boolean {
  return unified === 'interrupted' || unified === 'error';
}

/** A promise that rejects when the signal aborts, for races; dispose it when they are over. */
function rejectionOf(signal: AbortSignal): { promise: Promise<never>; dispose: () => void } {
  let dispose = (): void => {};
  const promise = new Promise<never>((_, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort, { once: true });
    dispose = () => signal.removeEventListener('abort', abort);
  });
  promise.catch(() => {});
  return { promise, dispose };
}
