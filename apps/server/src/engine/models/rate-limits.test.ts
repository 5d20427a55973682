import { APICallError } from '@ai-sdk/provider';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import { describe, expect, it } from 'vitest';
import { FakeClock, systemClock } from '../../kernel/clock.ts';
import { ModelLimiter } from './limiter.ts';
import type { Model } from './model.ts';
import { FREE } from './prices.ts';
import { streamOf } from './stream-of.ts';
import { streamTurn } from './stream-turn.ts';
import { logHooks, settle, startTurn, until } from './testing/drive-turn.ts';
import type { DrivenTurn } from './testing/drive-turn.ts';

type Answer = { status: number; headers?: Record<string, string> } | 'ok';

/** A provider that answers by what `next` says for the n-th request and the time, and notes when each came. */
function makeModel(clock: FakeClock, next: (index: number, now: number) => Answer, id = 'openai/fake') {
  const times: number[] = [];
  const language = {
    specificationVersion: 'v4',
    provider: 'fake',
    modelId: id,
    supportedUrls: {},
    doStream: async () => {
      const answer = next(times.push(clock.now()) - 1, clock.now());
      if (answer === 'ok') return { stream: streamOf(answerOk()) };
      const { status: statusCode, headers: responseHeaders = {} } = answer;
      throw new APICallError({ message: 'no', url: '', requestBodyValues: {}, statusCode, responseHeaders });
    },
  } as unknown as LanguageModelV4;
  const model: Model = {
    id,
    language,
    price: FREE,
    contextWindow: 1000,
    maxOutputTokens: 100,
    isScripted: false,
    limiterKey: id,
  };
  return { model, times };
}

async function* answerOk() {
  yield { type: 'text-start' as const, id: '1' };
  yield { type: 'text-delta' as const, id: '1', delta: 'ok' };
  yield {
    type: 'finish' as const,
    finishReason: { unified: 'stop' as const, raw: 'stop' },
    usage: {
      inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: 1, text: 1, reasoning: 0 },
    },
  };
}

const OPTIONS = { prompt: [] };

const MOST_SECONDS = 1_200;

/** Moves the clock on in small steps until all turns are over. Gives the seconds that it took. */
async function runAll(clock: FakeClock, turns: DrivenTurn[], stepMs = 500): Promise<number> {
  const start = clock.now();
  let over = 0;
  for (const { result } of turns) void result.catch(() => {}).finally(() => (over += 1));
  await settle();
  while (over < turns.length && clock.now() - start < MOST_SECONDS * 1_000) {
    clock.advance(stepMs);
    await settle();
  }
  return (clock.now() - start) / 1_000;
}

/** Repeatable, and different for each call. */
function makeRandom(): () => number {
  let seed = 42;
  return () => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647;
}

describe('five tasks against one provider key', () => {
  it('all finish after 12 limits of 7 s and 20 s of overload, with few requests and never on one beat', async () => {
    const clock = new FakeClock();
    let overloadedSince = 0;
    const { model, times } = makeModel(clock, (index, now) => {
      if (index < 12) return { status: 429, headers: { 'retry-after': '7' } };
      overloadedSince ||= now;
      return now - overloadedSince < 20_000 ? { status: 529 } : 'ok';
    });
    const random = makeRandom();
    const limiter = new ModelLimiter(clock, random);
    const turns = [1, 2, 3, 4, 5].map(() => startTurn([model], OPTIONS, { clock, limiter, random }));
    await runAll(clock, turns);

    const results = await Promise.all(turns.map(({ result }) => result));
    expect(results.map(({ content }) => content)).toEqual(
      Array.from({ length: 5 }, () => [{ type: 'text', text: 'ok' }]),
    );
    const start = times[0] ?? 0;
    const within = (seconds: number): number => times.filter((time) => time - start < seconds * 1_000).length;
    expect(within(7)).toBe(5);
    expect(within(10)).toBeLessThanOrEqual(6);
    expect(times.length).toBeLessThanOrEqual(30);
    const retries = turns.flatMap(({ log }) => log.retries);
    expect(retries.filter(({ reason }) => reason === 'rate-limit')).toHaveLength(12);
    expect(new Set(retries.map(({ reason }) => reason))).toEqual(new Set(['rate-limit', 'overloaded']));
  });

  it('are all held when one of them is told to wait, and another key is not', async () => {
    const clock = new FakeClock();
    const limiter = new ModelLimiter(clock, () => 0.5);
    const limited = makeModel(clock, (index) =>
      index === 0 ? { status: 429, headers: { 'retry-after': '30' } } : 'ok',
    );
    const free = makeModel(clock, () => 'ok', 'anthropic/fake');
    const first = startTurn([limited.model], OPTIONS, { clock, limiter });
    await settle();
    const second = startTurn([limited.model], OPTIONS, { clock, limiter });
    const other = startTurn([free.model], OPTIONS, { clock, limiter });
    await settle();
    expect(limited.times).toHaveLength(1);
    await expect(other.result).resolves.toMatchObject({ finishReason: 'stop' });
    clock.advance(29_000);
    await settle();
    expect(limited.times).toHaveLength(1);
    await runAll(clock, [first, second]);
    expect(limited.times).toHaveLength(3);
  });

  it('come back one by one once a probe is let in', async () => {
    const clock = new FakeClock();
    const limiter = new ModelLimiter(clock, makeRandom());
    limiter.refused('key', 1_000);
    const entered: number[] = [];
    for (let caller = 0; caller < 5; caller += 1) {
      void limiter.enter('key', new AbortController().signal).then(() => entered.push(clock.now()));
    }
    clock.advance(1_101);
    await settle();
    expect(entered).toHaveLength(1);
    limiter.admitted('key');
    for (let step = 0; step < 30 && entered.length < 5; step += 1) {
      await settle();
      clock.advance(50);
    }
    expect(entered).toHaveLength(5);
    expect(new Set(entered).size).toBeGreaterThanOrEqual(4);
  });

  it('let the rest through when a probe is not answered for long', async () => {
    const clock = new FakeClock();
    const limiter = new ModelLimiter(clock, () => 0.5);
    limiter.refused('key', 1_000);
    clock.advance(1_101);
    await limiter.enter('key', new AbortController().signal);
    let isIn = false;
    void limiter.enter('key', new AbortController().signal).then(() => (isIn = true));
    await settle();
    expect(isIn).toBe(false);
    clock.advance(10_001);
    await settle();
    expect(isIn).toBe(true);
  });
});

describe('what a provider asks to wait', () => {
  const start = 1_800_000_000_000;
  const firstDelay = async (headers: Record<string, string>): Promise<number> => {
    const clock = new FakeClock(start);
    const { model } = makeModel(clock, (index) => (index === 0 ? { status: 429, headers } : 'ok'));
    const turn = startTurn([model], OPTIONS, { clock });
    await settle();
    const delay = turn.log.retries[0]?.delayMs ?? -1;
    await runAll(clock, [turn]);
    await turn.result;
    return delay;
  };

  it.each<[string, Record<string, string>, number]>([
    ['seconds', { 'retry-after': '7' }, 7_000],
    ['an HTTP date', { 'retry-after': new Date(start + 9_000).toUTCString() }, 9_000],
    ['milliseconds', { 'retry-after-ms': '2500' }, 2_500],
    [
      'a reset in a duration',
      { 'x-ratelimit-reset-requests': '1m5s', 'x-ratelimit-remaining-requests': '0' },
      65_000,
    ],
    ['a reset since the epoch', { 'x-ratelimit-reset': String(start / 1_000 + 12) }, 12_000],
    [
      'a reset as a date',
      { 'anthropic-ratelimit-tokens-reset': new Date(start + 8_000).toISOString() },
      8_000,
    ],
  ])('is honoured as %s', async (_, headers, asked) => {
    const delay = await firstDelay(headers);
    expect(delay).toBeGreaterThanOrEqual(asked);
    expect(delay).toBeLessThanOrEqual(asked + 1_000);
  });

  it.each<[string, Record<string, string>]>([
    ['a negative number', { 'retry-after': '-5' }],
    ['a date that has passed', { 'retry-after': new Date(start - 60_000).toUTCString() }],
    ['no number', { 'retry-after': 'soon' }],
    [
      'a limit that is not used up',
      { 'x-ratelimit-reset-tokens': '6h', 'x-ratelimit-remaining-tokens': '900' },
    ],
  ])('gives way to backoff when it is %s', async (_, headers) => {
    const delay = await firstDelay(headers);
    expect(delay).toBeGreaterThanOrEqual(500);
    expect(delay).toBeLessThanOrEqual(1_000);
  });

  it('is cut to a visible pause when it is absurd, and ends in an error that says how long, not in a hang', async () => {
    const clock = new FakeClock();
    const { model, times } = makeModel(clock, () => ({ status: 429, headers: { 'retry-after': '86400' } }));
    const turn = startTurn([model], OPTIONS, { clock });
    const seconds = await runAll(clock, [turn], 5_000);
    await expect(turn.result).rejects.toMatchObject({
      code: 'model.unavailable',
      message: expect.stringContaining('24 hours') as string,
    });
    expect(turn.log.retries[0]?.delayMs).toBe(120_000);
    expect(turn.log.retries[0]?.message).toContain('24 hours');
    expect(seconds).toBeLessThanOrEqual(600);
    expect(times.length).toBeLessThanOrEqual(6);
  });

  it('is not waited for when it is absurd and there is a fallback', async () => {
    const clock = new FakeClock();
    const limiter = new ModelLimiter(clock, () => 0.5);
    const first = makeModel(clock, () => ({ status: 429, headers: { 'retry-after': '86400' } }));
    const second = makeModel(clock, () => 'ok', 'anthropic/fake');
    const models = [first.model, second.model];
    const turn = startTurn(models, OPTIONS, { clock, limiter });
    await expect(turn.result).resolves.toMatchObject({ model: 'anthropic/fake', attempt: 2 });
    expect(turn.log.fallbacks).toMatchObject([{ from: 'openai/fake', to: 'anthropic/fake' }]);
    // The next task does not even ask.
    await expect(startTurn(models, OPTIONS, { clock, limiter }).result).resolves.toMatchObject({
      attempt: 1,
    });
    expect(first.times).toHaveLength(1);
  });
});

describe('a list of models', () => {
  it('goes to the next after three tries, and numbers attempts through', async () => {
    const clock = new FakeClock();
    const first = makeModel(clock, () => ({ status: 529 }));
    const second = makeModel(clock, () => 'ok', 'anthropic/fake');
    const turn = startTurn([first.model, second.model], OPTIONS, { clock });
    await runAll(clock, [turn]);
    await expect(turn.result).resolves.toMatchObject({ attempt: 4 });
    expect(first.times).toHaveLength(3);
    expect(turn.log.attempts.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4]);
    expect(turn.log.fallbacks[0]?.reason).toContain('529');
  });

  it('goes to the next at once where no retry would help, and stops where the request itself is wrong', async () => {
    const clock = new FakeClock();
    const second = makeModel(clock, () => 'ok', 'anthropic/fake');
    for (const status of [401, 403, 404, 402]) {
      const first = makeModel(clock, () => ({ status }));
      const turn = startTurn([first.model, second.model], OPTIONS, { clock });
      await expect(turn.result).resolves.toMatchObject({ model: 'anthropic/fake' });
      expect(first.times).toHaveLength(1);
    }
    const wrong = makeModel(clock, () => ({ status: 400 }));
    const turn = startTurn([wrong.model, second.model], OPTIONS, { clock });
    await expect(turn.result).rejects.toMatchObject({ code: 'model.bad-request' });
  });

  it('says what to do when it is empty', async () => {
    await expect(startTurn([], OPTIONS).result).rejects.toMatchObject({ code: 'model.not-configured' });
  });

  it('backs off exponentially between server errors', async () => {
    const clock = new FakeClock();
    const { model, times } = makeModel(clock, () => ({ status: 500 }));
    const turn = startTurn([model], OPTIONS, { clock, random: () => 0.999 });
    await runAll(clock, [turn]);
    await expect(turn.result).rejects.toMatchObject({ code: 'model.unavailable' });
    expect(turn.log.retries.map(({ delayMs }) => delayMs)).toEqual([1_000, 1_999]);
    const [first = 0, second = 0, third = 0] = times;
    expect(second - first).toBeGreaterThanOrEqual(1_000);
    expect(third - second).toBeGreaterThanOrEqual(1_999);
  });
});

describe('a cancelled turn', () => {
  it('ends at once while it waits to be let in again', async () => {
    const clock = new FakeClock();
    const cancel = new AbortController();
    const { model } = makeModel(clock, () => ({ status: 429, headers: { 'retry-after': '60' } }));
    const turn = startTurn([model], OPTIONS, { clock, signal: cancel.signal });
    await settle();
    expect(turn.log.retries).toHaveLength(1);
    cancel.abort(new Error('cancelled by the user'));
    await expect(turn.result).rejects.toThrow('cancelled by the user');
    expect(clock.sleeping).toBe(0);
  });

  it('gives its own reason on the system’s clock too', async () => {
    const cancel = new AbortController();
    const { model } = makeModel(new FakeClock(), () => ({ status: 429, headers: { 'retry-after': '60' } }));
    const { log, hooks } = logHooks(systemClock);
    const limiter = new ModelLimiter(systemClock);
    const signal = cancel.signal;
    const result = streamTurn({
      models: [model],
      options: OPTIONS,
      hooks,
      signal,
      clock: systemClock,
      limiter,
    });
    result.catch(() => {});
    await until(() => log.retries.length === 1, 'the retry');
    cancel.abort(new Error('cancelled by the user'));
    await expect(result).rejects.toThrow('cancelled by the user');
  });
});

describe('hooks', () => {
  it('end the turn with what they throw, and free the probe', async () => {
    const clock = new FakeClock();
    const limiter = new ModelLimiter(clock, () => 0.5);
    const { model, times } = makeModel(clock, () => 'ok');
    limiter.refused(model.limiterKey, 1_000);
    clock.advance(1_101);
    const noop = async (): Promise<void> => {};
    const beforeAttempt = async (): Promise<void> => {
      throw new Error('budget is gone');
    };
    const hooks = { beforeAttempt, onText: noop, onReasoning: noop, onRetry: noop, onFallback: noop };
    await expect(startTurn([model], OPTIONS, { clock, limiter, hooks }).result).rejects.toThrow(
      'budget is gone',
    );
    expect(times).toHaveLength(0);
    await expect(startTurn([model], OPTIONS, { clock, limiter }).result).resolves.toBeDefined();
  });

  it('are waited for, and their time is not the provider’s silence', async () => {
    const clock = new FakeClock();
    const { model } = makeModel(clock, () => 'ok');
    let release = (): void => {};
    const noop = async (): Promise<void> => {};
    const hooks = {
      beforeAttempt: noop,
      onText: () => new Promise<void>((resolve) => (release = resolve)),
      onReasoning: noop,
      onRetry: noop,
      onFallback: noop,
    };
    const turn = startTurn([model], OPTIONS, { clock, hooks });
    await settle();
    clock.advance(600_000);
    await settle();
    release();
    await expect(turn.result).resolves.toMatchObject({ attempt: 1 });
  });
});
