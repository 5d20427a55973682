import type { Clock } from '../../kernel/clock.ts';

/** The longest wait that is done on a provider's word, in milliseconds; what asks for more is asked again after it. */
export const LONGEST_WAIT_MS = 120_000;

const FIRST_BACKOFF_MS = 1_000;
const LONGEST_BACKOFF_MS = 30_000;
/** A probe that has not been answered after this no longer holds the others up. */
const PROBE_PATIENCE_MS = 10_000;
/** Callers that waited come back spread over this much time each. */
const SPREAD_MS = 250;

/**
 * One for the process: calls that share a provider key share their waits. When one call is told to wait, no call with
 * that key starts before the time is over; then one goes ahead as a probe, and only when it is let in do the others
 * follow, spread by jitter. So many parallel tasks make no more requests against a limit than one does.
 */
export class ModelLimiter {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #keys = new Map<string, KeyState>();

  constructor(clock: Clock, random: () => number = Math.random) {
    this.#clock = clock;
    this.#random = random;
  }

  /** Resolves when a call with this key may start. Rejects with the signal's reason when it aborts. */
  async enter(key: string, signal: AbortSignal): Promise<void> {
    const state = this.#stateOf(key);
    let hasWaited = false;
    for (;;) {
      signal.throwIfAborted();
      const now = this.#clock.now();
      if (now < state.closedUntil) {
        await this.#clock.sleep(state.closedUntil - now, signal);
      } else if (state.failures === 0) {
        if (!hasWaited) return;
        state.waiting += 1;
        await this.#clock.sleep(this.#random() * SPREAD_MS * state.waiting, signal).finally(() => {
          state.waiting -= 1;
        });
        if (state.failures === 0) return;
      } else if (now >= state.probeUntil) {
        state.probeUntil = now + PROBE_PATIENCE_MS;
        return;
      } else {
        await this.#waitForChange(state, state.probeUntil - now, signal);
      }
      hasWaited = true;
    }
  }

  /** The provider has let a call in: the others may follow. */
  admitted(key: string): void {
    const state = this.#stateOf(key);
    state.failures = 0;
    state.askedUntil = 0;
    state.wakeAll();
  }

  /** A call that had entered ended without the provider's word on its limits: the next may probe. */
  left(key: string): void {
    const state = this.#stateOf(key);
    state.probeUntil = 0;
    state.wakeAll();
  }

  /**
   * The provider told a call to wait, or is overloaded. Closes the key and gives the wait in milliseconds:
   * what was asked with a little jitter on top, at most `LONGEST_WAIT_MS`, or a growing backoff where nothing was asked.
   */
  refused(key: string, askedMs: number | null): number {
    const state = this.#stateOf(key);
    const now = this.#clock.now();
    const asked = askedMs ?? 0;
    const wait =
      askedMs === null
        ? backoffMs(state.failures, this.#random())
        : Math.min(asked + this.#random() * Math.min(1_000, asked * 0.1), LONGEST_WAIT_MS);
    // Answers to calls that were under way together are one refusal, not many.
    if (now >= state.closedUntil) state.failures += 1;
    state.closedUntil = Math.max(state.closedUntil, now + wait);
    state.askedUntil = Math.max(state.askedUntil, now + asked);
    state.probeUntil = 0;
    state.wakeAll();
    return state.closedUntil - now;
  }

  /** Milliseconds for which the provider has asked to be left alone, uncapped. */
  askedMs(key: string): number {
    return Math.max(0, this.#stateOf(key).askedUntil - this.#clock.now());
  }

  #stateOf(key: string): KeyState {
    let state = this.#keys.get(key);
    if (state === undefined) this.#keys.set(key, (state = new KeyState()));
    return state;
  }

  async #waitForChange(state: KeyState, ms: number, signal: AbortSignal): Promise<void> {
    const changed = new AbortController();
    const wake = (): void => changed.abort();
    state.onChange.add(wake);
    try {
      await this.#clock.sleep(ms, AbortSignal.any([signal, changed.signal]));
    } catch (error) {
      if (signal.aborted || !changed.signal.aborted) throw error;
    } finally {
      state.onChange.delete(wake);
    }
  }
}

/** Exponential backoff with half of it jitter: 0.5–1 s, 1–2 s, 2–4 s … up to 30 s. `random` is in [0, 1). */
export function backoffMs(failuresBefore: number, random: number): number {
  const full = Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** failuresBefore);
  return Math.round(full / 2 + (full / 2) * random);
}

class KeyState {
  closedUntil = 0;
  askedUntil = 0;
  /** Refusals in a row. */
  failures = 0;
  /** While this is in the future a probe is under way. */
  probeUntil = 0;
  waiting = 0;
  readonly onChange = new Set<() => void>();

  wakeAll(): void {
    for (const wake of [...this.onChange]) wake();
  }
}
