import type { Duplex } from 'node:stream';

/** apt asks for ten files ahead; whoever asks for many more wants this process's memory. */
const MAX_AHEAD = 32;

/**
 * A guest's connection to the proxy. Its requests are served one after the other, however many it sends ahead: what
 * it does not wait for costs no connection to a host and no more memory than a few headers. One that asks for nothing
 * is ended, as a stream of a guest has no timer of its own.
 */
export class GuestConnection {
  readonly #stream: Duplex;
  readonly #idleMs: number;
  #waiting = 0;
  #last: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;

  constructor(stream: Duplex, idleMs: number) {
    this.#stream = stream;
    this.#idleMs = idleMs;
    stream.on('error', () => undefined);
    stream.once('close', () => clearTimeout(this.#timer));
    this.#awaitRequest();
  }

  /** Calls `serve`, which never rejects, once the requests before are done and unless the connection has ended by then. */
  serveInTurn(serve: () => Promise<void>): void {
    if (++this.#waiting > MAX_AHEAD) return this.end();
    clearTimeout(this.#timer);
    this.#last = this.#last.then(async () => {
      if (!this.#stream.destroyed && !this.#stream.writableEnded) await serve();
      if (--this.#waiting === 0) this.#awaitRequest();
    });
  }

  end(): void {
    this.#stream.destroy();
  }

  /** Headers that come a byte at a time end here too: the time counts from the last answer, not from the last byte. */
  #awaitRequest(): void {
    if (this.#stream.destroyed) return;
    this.#timer = setTimeout(() => this.end(), this.#idleMs);
    this.#timer.unref();
  }
}
