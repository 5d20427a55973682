import { duplexPair, type Duplex } from 'node:stream';
import { encodeFrame, FrameReader, type Frame } from '../frame-codec.ts';
import { TO_GUEST, TO_HOST } from '../frame-types.ts';
import { u32, u64 } from '../payload.ts';

/** The guest's end of a channel in memory: answers HELLO, keeps what comes, and sends what a test says, true or not. */
export class FakeAgent {
  /** The host's end. */
  readonly host: Duplex;
  readonly received: Frame[] = [];
  readonly #guest: Duplex;
  readonly #answers = new Map<number, (frame: Frame) => void>();
  #waiting: (() => void)[] = [];

  /** @param before sent ahead of READY, as what an earlier connection left in the channel. */
  constructor({ before = Buffer.alloc(0), version = 1 } = {}) {
    [this.host, this.#guest] = duplexPair();
    const reader = new FrameReader();
    this.#guest.on('error', () => undefined);
    this.#guest.on('data', (chunk: Buffer) => reader.push(chunk, (frame) => this.#take(frame)));
    this.on(TO_GUEST.hello, ({ id, payload }) => {
      this.raw(before);
      const ready = [payload.subarray(0, 16), u32(version), u64(1234), u32(2)];
      this.send(TO_HOST.ready, id, Buffer.concat(ready));
    });
  }

  on(type: number, answer: (frame: Frame) => void): void {
    this.#answers.set(type, answer);
  }

  send(type: number, id: number, payload?: Buffer): void {
    this.raw(encodeFrame(type, id, payload));
  }

  raw(bytes: Buffer): void {
    this.#guest.write(bytes);
  }

  /** Stops reading: what the host writes stays in the channel. */
  sleep(): void {
    this.#guest.pause();
  }

  wake(): void {
    this.#guest.resume();
  }

  /** Dies. */
  end(): void {
    this.#guest.destroy();
    this.host.destroy();
  }

  /** The first frame of a type that has come or comes. */
  async next(type: number): Promise<Frame> {
    for (;;) {
      const index = this.received.findIndex((frame) => frame.type === type);
      const [frame] = index === -1 ? [] : this.received.splice(index, 1);
      if (frame !== undefined) return frame;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  #take(frame: Frame): void {
    this.received.push({ ...frame, payload: Buffer.from(frame.payload) });
    this.#answers.get(frame.type)?.(frame);
    for (const wake of this.#waiting.splice(0)) wake();
  }
}
