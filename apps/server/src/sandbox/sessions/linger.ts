import type { Clock } from '../../kernel/clock.ts';

/** The time that a session's VM stays without anybody to run for. */
export class Linger {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #onOver: () => void;
  #timer: NodeJS.Timeout | null = null;
  #since: number | null = null;

  constructor(clock: Pick<Clock, 'monotonic'>, onOver: () => void) {
    this.#clock = clock;
    this.#onOver = onOver;
  }

  /** Monotonic milliseconds; `null`: somebody has it, or there is no VM. */
  get since(): number | null {
    return this.#since;
  }

  start(ms: number): void {
    this.stop();
    this.#since = this.#clock.monotonic();
    this.#timer = setTimeout(this.#onOver, ms);
    this.#timer.unref();
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#since = null;
  }
}
