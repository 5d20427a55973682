import type { Clock } from '../../kernel/clock.ts';
import { StreamStalled } from './turn-failure.ts';

/** How long a stream may be without signs of life, and how long without content, in milliseconds. */
export interface SilenceLimits {
  silentMs: number;
  withoutContentMs: number;
}

/**
 * The rule: 60 s in which not a byte arrives end the attempt. A ping, or anything else that is no content, shows that the
 * connection lives and that the model may be thinking, so it starts the 60 s again; but after 5 minutes without
 * content the attempt ends too.
 */
export const SILENCE_LIMITS: SilenceLimits = { silentMs: 60_000, withoutContentMs: 300_000 };

/** Watches one attempt and aborts it with `StreamStalled` by the rule above. Call `stop` at its end. */
export class SilenceWatch {
  readonly #clock: Clock;
  readonly #limits: SilenceLimits;
  readonly #stopped = new AbortController();
  readonly #stall = new AbortController();
  #lastSign: number;
  #lastContent: number;
  #isPaused = false;

  constructor(clock: Clock, limits: SilenceLimits) {
    this.#clock = clock;
    this.#limits = limits;
    this.#lastSign = this.#lastContent = clock.monotonic();
    void this.#watch();
  }

  /** Aborts when the stream has stalled. */
  get signal(): AbortSignal {
    return this.#stall.signal;
  }

  /** Something arrived; `isContent` is false for a ping. */
  saw(isContent: boolean): void {
    this.#lastSign = this.#clock.monotonic();
    if (isContent) this.#lastContent = this.#lastSign;
  }

  /** The time that our own side takes for a part is not the provider's silence. */
  async pausedFor<T>(work: Promise<T>): Promise<T> {
    this.#isPaused = true;
    try {
      return await work;
    } finally {
      this.#isPaused = false;
      this.saw(true);
    }
  }

  stop(): void {
    this.#stopped.abort();
  }

  async #watch(): Promise<void> {
    while (!this.#stopped.signal.aborted) {
      const left = this.#isPaused ? this.#limits.silentMs : this.#msLeft();
      if (left <= 0) return this.#stall.abort(new StreamStalled(this.#describe()));
      try {
        await this.#clock.sleep(left, this.#stopped.signal);
      } catch {
        return;
      }
    }
  }

  #msLeft(): number {
    const { silentMs, withoutContentMs } = this.#limits;
    const due = Math.min(this.#lastSign + silentMs, this.#lastContent + withoutContentMs);
    return due - this.#clock.monotonic();
  }

  #describe(): string {
    const now = this.#clock.monotonic();
    if (now - this.#lastSign >= this.#limits.silentMs) {
      return `nothing came for ${Math.round((now - this.#lastSign) / 1000)} s`;
    }
    return `only pings came for ${Math.round((now - this.#lastContent) / 1000)} s`;
  }
}
