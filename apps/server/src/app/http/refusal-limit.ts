/** Refusals of one address that are recorded in a minute; whoever knocks on needs no entry for each. */
const PER_MINUTE = 20;
const MINUTE_MS = 60_000;
/** Addresses that are remembered; the oldest is forgotten first. */
const ADDRESSES = 1_000;

interface Count {
  since: number;
  taken: number;
  leftOut: number;
}

/** Keeps somebody who is refused over and over from filling the audit trail. */
export class RefusalLimit {
  readonly #counts = new Map<string, Count>();
  readonly #now: () => number;
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** How many refusals of this address were left out since the last that was recorded; `null`: leave this one out too. */
  take(address: string): number | null {
    const now = this.#now();
    const count = this.#counts.get(address) ?? { since: now, taken: 0, leftOut: 0 };
    if (now - count.since >= MINUTE_MS) Object.assign(count, { since: now, taken: 0 });
    this.#counts.delete(address);
    this.#counts.set(address, count);
    if (this.#counts.size > ADDRESSES) this.#counts.delete(this.#counts.keys().next().value ?? '');
    if (count.taken >= PER_MINUTE) {
      count.leftOut += 1;
      return null;
    }
    const { leftOut } = count;
    Object.assign(count, { taken: count.taken + 1, leftOut: 0 });
    return leftOut;
  }
}
