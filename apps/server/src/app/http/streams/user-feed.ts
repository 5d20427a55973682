import type { EventEnvelope } from '@vitto/contracts';
import { joinFrames, toFrame, type Batch, type Frame } from './frame.ts';

/** How many new events are read at once. */
const READ_ROWS = 200;
/** The newest frames are kept up to this many and this many bytes; older ones are read from the table again. */
const KEPT_FRAMES = 1_000;
const KEPT_BYTES = 1024 * 1024;
/** Most bytes that are joined for one write, unless a single frame is larger. */
const BATCH_BYTES = 128 * 1024;

/**
 * The one reader of a user's journal in this process. It reads what is new when it is woken, turns each event into
 * bytes once, and keeps the newest for its listeners.
 */
export class UserFeed {
  readonly #read: (after: number, limit: number) => Promise<EventEnvelope[]>;
  readonly #onGrowth: () => void;
  /** Everything up to here has been read. */
  #position: number;
  /** Everything after this and up to `#position` is kept. */
  #floor: number;
  #kept: Frame[] = [];
  #keptBytes = 0;
  #isReading = false;
  #isDirty = false;
  readonly #batches = new Map<string, Batch>();

  /** @param start the user's last position now; earlier events are read from the table by those who want them. */
  constructor(options: {
    start: number;
    read: (after: number, limit: number) => Promise<EventEnvelope[]>;
    onGrowth: () => void;
  }) {
    this.#read = options.read;
    this.#onGrowth = options.onGrowth;
    this.#position = options.start;
    this.#floor = options.start;
  }

  get position(): number {
    return this.#position;
  }

  /**
   * Reads what is new, one reading at a time; a wake-up during one makes another follow.
   * @throws what the database throws; the next wake-up tries again from the same place.
   */
  async wake(): Promise<void> {
    this.#isDirty = true;
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      while (this.#isDirty) {
        this.#isDirty = false;
        const events = await this.#read(this.#position, READ_ROWS);
        if (events.length === READ_ROWS) this.#isDirty = true;
        if (events.length > 0) this.#keep(events);
      }
    } finally {
      this.#isReading = false;
    }
  }

  /** What comes after `position` for a task or for all; `null` when that is no longer kept and has to be read. */
  batchAfter(position: number, taskId: string | null): Batch | null {
    if (position < this.#floor) return null;
    if (position >= this.#position) return { bytes: EMPTY, position, hasEnd: false };
    const key = `${position} ${taskId}`;
    const known = this.#batches.get(key);
    if (known !== undefined) return known;
    const batch = this.#join(position, taskId);
    this.#batches.set(key, batch);
    return batch;
  }

  #join(position: number, taskId: string | null): Batch {
    const frames: Frame[] = [];
    let bytes = 0;
    for (let index = this.#indexAfter(position); index < this.#kept.length; index += 1) {
      const frame = this.#kept[index] as Frame;
      if (frames.length > 0 && bytes + frame.bytes.length > BATCH_BYTES)
        return joinFrames(frames, taskId, frames.at(-1)?.position ?? position);
      frames.push(frame);
      bytes += frame.bytes.length;
    }
    return joinFrames(frames, taskId, this.#position);
  }

  #indexAfter(position: number): number {
    let low = 0;
    let high = this.#kept.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#kept[middle] as Frame).position <= position) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #keep(events: EventEnvelope[]): void {
    for (const frame of events.map(toFrame)) {
      this.#kept.push(frame);
      this.#keptBytes += frame.bytes.length;
      this.#position = frame.position;
    }
    this.#batches.clear();
    this.#onGrowth();
    this.#forget();
  }

  #forget(): void {
    let count = 0;
    while (
      this.#kept.length - count > KEPT_FRAMES ||
      (this.#keptBytes > KEPT_BYTES && count < this.#kept.length)
    ) {
      const frame = this.#kept[count] as Frame;
      this.#keptBytes -= frame.bytes.length;
      this.#floor = frame.position;
      count += 1;
    }
    if (count === 0) return;
    this.#kept.splice(0, count);
    this.#batches.clear();
  }
}

const EMPTY = Buffer.alloc(0);
