import type { ServerResponse } from 'node:http';
import type { EventEnvelope } from '@vitto/contracts';
import { joinFrames, toFrame, type Batch } from './frame.ts';
import type { UserFeed } from './user-feed.ts';

const PAGE_ROWS = 100;

export interface StreamClientOptions {
  raw: ServerResponse;
  feed: UserFeed;
  /** `null`: all of the user's events. */
  taskId: string | null;
  /** The client has everything up to here. */
  position: number;
  /** True when the task had ended before: the stream ends once it has caught up. */
  isOver: boolean;
  readPage: (after: number, limit: number) => Promise<EventEnvelope[]>;
  /** How long a client may take nothing before it is dropped, in milliseconds. */
  stallMs: number;
}

/**
 * One listener. It always knows up to where the client has been sent everything, and sends what comes next: from the
 * kept frames when they reach back far enough, else from the table in pages. While the client does not take what it
 * was sent, nothing is queued for it; it goes on from its place later, or is dropped and resumes with its last id.
 */
export class StreamClient {
  readonly #options: StreamClientOptions;
  readonly openedAt = performance.now();
  #position: number;
  #isSending = false;
  #isWoken = false;
  #isClosed = false;

  constructor(options: StreamClientOptions) {
    this.#options = options;
    this.#position = options.position;
  }

  get position(): number {
    return this.#position;
  }

  /** Sends what is there; called whenever there may be more. A read that fails is tried again at the next call. */
  async wake(): Promise<void> {
    this.#isWoken = true;
    if (this.#isSending || this.#isClosed) return;
    this.#isSending = true;
    try {
      while (this.#isWoken) {
        this.#isWoken = false;
        await this.#sendAll();
      }
    } finally {
      this.#isSending = false;
    }
  }

  async #sendAll(): Promise<void> {
    const { raw, feed, taskId } = this.#options;
    while (!this.#isClosed) {
      if (raw.writableNeedDrain) await this.#drained();
      if (this.#isClosed) return;
      const batch = feed.batchAfter(this.#position, taskId) ?? (await this.#readBatch());
      if (this.#isClosed) return;
      if (batch.position === this.#position) {
        if (this.#options.isOver) this.end('end of task', this.#options.stallMs);
        return;
      }
      this.#position = batch.position;
      if (batch.bytes.length > 0) raw.write(batch.bytes);
      if (batch.hasEnd) this.end('end of task', this.#options.stallMs);
    }
  }

  async #readBatch(): Promise<Batch> {
    const { feed, taskId, readPage } = this.#options;
    // What the feed had read before this reading began is committed, so this page cannot miss it.
    const read = feed.position;
    const events = await readPage(this.#position, PAGE_ROWS);
    const last = events.at(-1)?.position ?? this.#position;
    return joinFrames(events.map(toFrame), taskId, events.length < PAGE_ROWS ? Math.max(read, last) : last);
  }

  async #drained(): Promise<void> {
    const { raw, stallMs } = this.#options;
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer);
        raw.off('drain', done).off('close', done);
        resolve();
      };
      const timer = setTimeout(() => {
        this.drop();
        done();
      }, stallMs);
      raw.on('drain', done).on('close', done);
    });
  }

  /** A comment keeps proxies and the client sure that the stream lives. */
  beat(): void {
    const { raw } = this.#options;
    if (this.#isClosed || raw.writableNeedDrain) return;
    if (!raw.write(': heartbeat\n\n')) void this.wake();
  }

  /** Ends the stream in order; a client that has not taken the rest after `graceMs` is cut off and resumes. */
  end(reason: string, graceMs: number): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const { raw } = this.#options;
    const timer = setTimeout(() => raw.destroy(), graceMs);
    raw.once('close', () => clearTimeout(timer));
    raw.end(`: ${reason}\n\n`);
  }

  /** Cuts the connection at once. */
  drop(): void {
    this.#isClosed = true;
    this.#options.raw.destroy();
  }

  /** The client went away. */
  close(): void {
    this.#isClosed = true;
  }
}
