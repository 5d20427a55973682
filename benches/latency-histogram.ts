const BUCKETS_PER_MS = 10;
const LONGEST_MS = 60_000;

/** Counts times to a tenth of a millisecond: a million of them cost no memory and hardly any time. */
export class LatencyHistogram {
  readonly #buckets = new Uint32Array(LONGEST_MS * BUCKETS_PER_MS + 1);
  count = 0;
  max = 0;

  add(ms: number): void {
    const bucket = Math.min(Math.max(0, Math.round(ms * BUCKETS_PER_MS)), this.#buckets.length - 1);
    this.#buckets[bucket] = (this.#buckets[bucket] ?? 0) + 1;
    this.count += 1;
    if (ms > this.max) this.max = ms;
  }

  /** NaN when nothing was counted. */
  percentile(p: number): number {
    const wanted = Math.max(1, Math.ceil(p * this.count));
    let seen = 0;
    for (let bucket = 0; bucket < this.#buckets.length; bucket += 1) {
      seen += this.#buckets[bucket] ?? 0;
      if (seen >= wanted) return bucket / BUCKETS_PER_MS;
    }
    return Number.NaN;
  }
}
