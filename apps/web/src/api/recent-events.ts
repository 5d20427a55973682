import type { EventEnvelope } from '@vitto/contracts';

/** As many as another tab may be behind before it has to load its history again. */
const KEPT = 2_000;

/** The newest events of the stream, for tabs that come later or were asleep. */
export class RecentEvents {
  #events: EventEnvelope[] = [];
  /** Everything after this is kept. */
  #floor: number;

  constructor(position: number) {
    this.#floor = position;
  }

  add(event: EventEnvelope): void {
    this.#events.push(event);
    if (this.#events.length <= KEPT * 2) return;
    const dropped = this.#events.length - KEPT;
    this.#floor = this.#events[dropped - 1]?.position ?? this.#floor;
    this.#events = this.#events.slice(dropped);
  }

  /** What came after a position; `null` when that is not known any more. */
  after(position: number): EventEnvelope[] | null {
    return position < this.#floor ? null : this.#events.filter((event) => event.position > position);
  }
}
