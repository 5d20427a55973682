import { TO_HOST } from './frame-types.ts';
import { FrameReader, type Frame } from './frame-codec.ts';
import { PayloadReader } from './payload.ts';

const NONCE_BYTES = 16;
const HEAD_BYTES = 10;
/** A READY is always this long. */
const READY_BYTES = HEAD_BYTES + NONCE_BYTES + 16 + 1;

export interface Ready {
  version: number;
  /** Milliseconds since the guest began. */
  uptimeMs: number;
  /** Commands that run, from before this connection. */
  running: number;
}

/**
 * Finds the READY that answers our HELLO in whatever an earlier connection left in the channel: the rest of a frame,
 * whole ones, the READY of another. Holds no more than a READY is long.
 */
export class ReadyFinder {
  readonly #nonce: Buffer;
  #carry: Buffer = Buffer.alloc(0);

  constructor(nonce: Buffer) {
    this.#nonce = nonce;
  }

  /** The answer and what came after it; `null` while it has not come. */
  push(chunk: Buffer): { ready: Ready; rest: Buffer } | null {
    const bytes = Buffer.concat([this.#carry, chunk]);
    for (let at = bytes.indexOf(this.#nonce); at !== -1; at = bytes.indexOf(this.#nonce, at + 1)) {
      const begin = at - HEAD_BYTES;
      if (begin < 0 || begin + READY_BYTES > bytes.length) continue;
      const ready = parseReady(bytes.subarray(begin, begin + READY_BYTES));
      if (ready !== null) return { ready, rest: bytes.subarray(begin + READY_BYTES) };
    }
    this.#carry = Buffer.from(bytes.subarray(Math.max(0, bytes.length - READY_BYTES + 1)));
    return null;
  }
}

function parseReady(bytes: Buffer): Ready | null {
  const frames: Frame[] = [];
  try {
    new FrameReader().push(bytes, (frame) => frames.push(frame));
    const [frame] = frames;
    if (frame?.type !== TO_HOST.ready) return null;
    const reader = new PayloadReader(frame.payload.subarray(NONCE_BYTES));
    return { version: reader.u32(), uptimeMs: reader.u64(), running: reader.u32() };
  } catch {
    return null;
  }
}
