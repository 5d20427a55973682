import type { FastifyReply } from 'fastify';
import { AppError } from '../../kernel/app-error.ts';

/** A comment in this time, in milliseconds, so that nobody takes a stream for dead while tools run. */
const KEEP_ALIVE_MS = 15_000;
/** How long a client may take nothing before it is dropped, in milliseconds. */
const STALL_MS = 30_000;

/**
 * A reply as a stream of server-sent events. It begins with the first thing written: until then the request can
 * still be refused with a status.
 */
export class SseWriter {
  readonly #reply: FastifyReply;
  #timer: NodeJS.Timeout | null;
  #isOpen = false;

  constructor(reply: FastifyReply, keepAliveMs = KEEP_ALIVE_MS) {
    this.#reply = reply;
    this.#timer = setInterval(() => this.#beat(), keepAliveMs);
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /**
   * Sends one event; resolves when the client has room for the next.
   * @throws AppError `stream.stalled` when it takes nothing for too long.
   */
  async send(data: unknown): Promise<void> {
    this.#open();
    const { raw } = this.#reply;
    if (raw.destroyed) return;
    if (!raw.write(`data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`))
      await this.#drain();
  }

  /** Nothing more is sent. */
  close(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    if (this.#isOpen) this.#reply.raw.end();
  }

  #open(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    const { raw } = this.#reply;
    this.#reply.hijack();
    if (raw.destroyed) return;
    raw.on('error', () => undefined);
    raw.writeHead(200, {
      ...(this.#reply.getHeaders() as Record<string, string>),
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    });
  }

  #beat(): void {
    this.#open();
    const { raw } = this.#reply;
    if (!raw.destroyed && !raw.writableNeedDrain) raw.write(': keep-alive\n\n');
  }

  #drain(): Promise<void> {
    const { raw } = this.#reply;
    return new Promise((resolve, reject) => {
      const done = () => {
        clearTimeout(timer);
        raw.off('drain', done).off('close', done);
        resolve();
      };
      const timer = setTimeout(() => {
        raw.off('drain', done).off('close', done);
        raw.destroy();
        reject(new AppError('stream.stalled', 'The client takes nothing of the answer.', { status: 408 }));
      }, STALL_MS);
      raw.once('drain', done).once('close', done);
    });
  }
}
