import { monitorEventLoopDelay } from 'node:perf_hooks';
import { residentMb } from './report.ts';

export interface ProcessLoad {
  /** How late timers came, in milliseconds: what other work of this process made everything wait. */
  loopDelayMs: { p50: number; p99: number; max: number };
  /** Share of one core, 0–1. */
  cpu: number;
  residentMb: number;
}

/** Watches this process from `begin` to `end`. */
export class LoadWatch {
  readonly #delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  #cpu = process.cpuUsage();
  #since = performance.now();

  begin(): void {
    this.#delay.reset();
    this.#delay.enable();
    this.#cpu = process.cpuUsage();
    this.#since = performance.now();
  }

  end(): ProcessLoad {
    this.#delay.disable();
    const { user, system } = process.cpuUsage(this.#cpu);
    // The histogram holds whole intervals: the timer's own is no delay.
    const late = (nanoseconds: number) => Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS);
    return {
      loopDelayMs: {
        p50: late(this.#delay.percentile(50)),
        p99: late(this.#delay.percentile(99)),
        max: late(this.#delay.max),
      },
      cpu: (user + system) / 1000 / (performance.now() - this.#since),
      residentMb: residentMb(process.pid),
    };
  }
}
const RESOLUTION_MS = 10;
