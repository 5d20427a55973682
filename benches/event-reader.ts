const ID = Buffer.from('\nid: ');
const END = Buffer.from('\n\n');
const NEWLINE = 10;
const ZERO = 48;

/**
 * Reads an event stream from the bytes of an HTTP/1.1 answer with as little work as can be, since a thousand of these
 * share one core. Chunk marks are skipped over: the server writes whole events, so they lie between events only.
 */
export class EventReader {
  #rest: Buffer | null = null;
  readonly #onEvent: (position: number, block: Buffer) => void;
  readonly #onStart: (position: number) => void;

  /** @param onStart called for an id without data: the place where the stream begins. */
  constructor(onStart: (position: number) => void, onEvent: (position: number, block: Buffer) => void) {
    this.#onStart = onStart;
    this.#onEvent = onEvent;
  }

  push(chunk: Buffer): void {
    const data = this.#rest === null ? chunk : Buffer.concat([this.#rest, chunk]);
    let at = 0;
    for (;;) {
      const start = data.indexOf(ID, at);
      if (start === -1) return this.#keep(data, Math.max(at, data.length - ID.length + 1));
      const end = data.indexOf(END, start + ID.length);
      if (end === -1) return this.#keep(data, start);
      this.#read(data, start + ID.length, end);
      // The second line break of an event may begin the next id.
      at = end + 1;
    }
  }

  #read(data: Buffer, from: number, end: number): void {
    let position = 0;
    let at = from;
    for (; at < end && data[at] !== NEWLINE; at += 1) position = position * 10 + (data[at] ?? 0) - ZERO;
    if (at === end) this.#onStart(position);
    else this.#onEvent(position, data.subarray(at + 1, end));
  }

  #keep(data: Buffer, from: number): void {
    this.#rest = from >= data.length ? null : Buffer.from(data.subarray(from));
  }
}
