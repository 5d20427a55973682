import type { ServerResponse } from 'node:http';
import type { Problem } from '@vitto/contracts';
import type { FastifyReply } from 'fastify';
import { KEEP_ALIVE_MS } from './wire.ts';

/**
 * An answer as Server-Sent Events. `send` waits until the client takes what it was sent, so that nothing piles up here;
 * it does nothing once the client is gone (`reply.raw` says so by `close`).
 */
export class SseWriter {
  readonly #raw: ServerResponse;
  readonly #beat: NodeJS.Timeout;

  constructor(reply: FastifyReply) {
    reply.hijack();
    this.#raw = reply.raw;
    this.#raw.on('error', () => undefined);
    this.#raw.writeHead(200, {
      ...(reply.getHeaders() as Record<string, string>),
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    });
    this.#raw.flushHeaders();
    this.#beat = setInterval(() => {
      if (!this.#raw.writableNeedDrain) this.#raw.write(': still here\n\n');
    }, KEEP_ALIVE_MS);
    this.#raw.once('close', () => clearInterval(this.#beat));
  }

  /** `data` has no line breaks: JSON or base64. */
  async send(event: string, data: string): Promise<void> {
    const raw = this.#raw;
    if (raw.destroyed || raw.writableEnded) return;
    if (raw.write(`event: ${event}\ndata: ${data}\n\n`)) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        raw.off('drain', done).off('close', done);
        resolve();
      };
      raw.on('drain', done).on('close', done);
    });
  }

  /** Bytes in base64, as they are. */
  sendBytes(event: string, bytes: Uint8Array): Promise<void> {
    return this.send(event, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64'));
  }

  /** Sends what comes of the work as the last event, or the problem that it ended with. Never rejects. */
  async finish<T>(event: string, work: Promise<T>, describe: (error: unknown) => Problem): Promise<void> {
    await work.then(
      (result) => this.send(event, JSON.stringify(result)),
      (error: unknown) => this.send('problem', JSON.stringify(describe(error))),
    );
    clearInterval(this.#beat);
    this.#raw.end();
  }
}
