import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { FakeClock } from '../../../kernel/clock.ts';
import { ModelLimiter } from '../limiter.ts';
import type { Model, ModelTurn, RetryInfo, TurnHooks } from '../model.ts';
import { streamTurn } from '../stream-turn.ts';
import type { TurnRequest } from '../stream-turn.ts';

/** What a turn told through its hooks. */
export interface TurnLog {
  text: string;
  reasoning: string;
  /** Text by attempt: what a failed one showed does not count. */
  textOf: Map<number, string>;
  attempts: { model: string; attempt: number; at: number }[];
  retries: RetryInfo[];
  fallbacks: { from: string; to: string; reason: string }[];
}

export function logHooks(clock: { now: () => number }): { log: TurnLog; hooks: TurnHooks } {
  const log: TurnLog = {
    text: '',
    reasoning: '',
    textOf: new Map(),
    attempts: [],
    retries: [],
    fallbacks: [],
  };
  const hooks: TurnHooks = {
    beforeAttempt: async (model, attempt) =>
      void log.attempts.push({ model: model.id, attempt, at: clock.now() }),
    onText: async (attempt, delta) => {
      log.text += delta;
      log.textOf.set(attempt, (log.textOf.get(attempt) ?? '') + delta);
    },
    onReasoning: async (_, delta) => void (log.reasoning += delta),
    onRetry: async (info) => void log.retries.push(info),
    onFallback: async (info) => void log.fallbacks.push(info),
  };
  return { log, hooks };
}

export interface DrivenTurn {
  log: TurnLog;
  clock: FakeClock;
  result: Promise<ModelTurn>;
}

/** Starts a turn on a fake clock. */
export function startTurn(
  models: Model[],
  options: TurnRequest['options'],
  more: Partial<TurnRequest> & { clock?: FakeClock } = {},
): DrivenTurn {
  const clock = more.clock ?? new FakeClock();
  const { log, hooks } = logHooks(clock);
  const random = more.random ?? (() => 0.5);
  const result = streamTurn({
    models,
    options,
    hooks,
    signal: new AbortController().signal,
    limiter: new ModelLimiter(clock, random),
    ...more,
    clock,
    random,
  });
  result.catch(() => {});
  return { log, clock, result };
}

/**
 * Waits for a turn, and moves its clock on over each wait that it announces by `onRetry`. The time in between
 * stands still, so a slow machine never looks like a silent provider.
 */
export async function finishTurn(turn: DrivenTurn): Promise<ModelTurn> {
  let isOver = false;
  let seen = 0;
  void turn.result.finally(() => (isOver = true)).catch(() => {});
  while (!isOver) {
    await sleep(1);
    if (turn.log.retries.length === seen) continue;
    seen = turn.log.retries.length;
    await sleep(5);
    turn.clock.advance((turn.log.retries.at(-1)?.delayMs ?? 0) + 1);
    await sleep(5);
    turn.clock.advance(1_000);
  }
  return turn.result;
}

/** Lets everything that is ready run, without any time passing on a fake clock. */
export async function settle(): Promise<void> {
  for (let round = 0; round < 3; round += 1) {
    await setImmediate();
    // A timer of zero milliseconds in a library takes one.
    await sleep(2);
  }
}

export async function until(isTrue: () => boolean, what: string): Promise<void> {
  for (let round = 0; round < 4_000; round += 1) {
    if (isTrue()) return;
    await sleep(5);
  }
  throw new Error(`never came true: ${what}`);
}
