import { MAX_PAYLOAD_BYTES } from './frame-types.ts';

const BEGIN = 0xa5;
const END = 0x5a;
/** Begin, length, type, id. */
const HEAD_BYTES = 10;
/** The part of the head that the length counts: type and id. */
const COUNTED_HEAD_BYTES = 5;

export interface Frame {
  type: number;
  id: number;
  payload: Buffer;
}

/** What came from a guest is no frame of the protocol. The connection is of no use after it. */
export class ProtocolError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ProtocolError';
  }
}

/** The bytes of a frame, in the parts in which they are written: a payload is not copied. */
export function frameParts(type: number, id: number, payload: Buffer): [Buffer, Buffer, Buffer] {
  const head = Buffer.allocUnsafe(HEAD_BYTES);
  head[0] = BEGIN;
  head.writeUInt32LE(COUNTED_HEAD_BYTES + payload.length, 1);
  head[5] = type;
  head.writeUInt32LE(id, 6);
  return [head, payload, TAIL];
}
const TAIL = Buffer.of(END);

export function encodeFrame(type: number, id: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  return Buffer.concat(frameParts(type, id, payload));
}

/**
 * Cuts a byte stream into frames. Holds one frame at most (64 KiB); payloads that arrive in one piece are views of
 * the chunk they came in.
 */
export class FrameReader {
  /** A frame of which a part has come, and how much of it. */
  #partial: Buffer = Buffer.allocUnsafe(HEAD_BYTES);
  #filled = 0;

  /** @throws ProtocolError when the bytes are no frames; what came before them has been handed on. */
  push(chunk: Buffer, onFrame: (frame: Frame) => void): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.#filled > 0) {
        at += this.#complete(chunk, at, onFrame);
      } else if (chunk[at] === 0) {
        at += 1;
      } else if (chunk[at] !== BEGIN) {
        throw new ProtocolError('a frame does not begin as one');
      } else {
        const size = chunk.length - at < HEAD_BYTES ? Infinity : frameSize(chunk, at);
        if (at + size > chunk.length) at += this.#keep(chunk, at);
        else {
          onFrame(toFrame(chunk.subarray(at, at + size)));
          at += size;
        }
      }
    }
  }

  /** Takes what is missing of the frame that has begun; returns how much it took. */
  #complete(chunk: Buffer, at: number, onFrame: (frame: Frame) => void): number {
    const taken = this.#keep(chunk, at);
    if (this.#filled < this.#partial.length) return taken;
    const frame = this.#partial;
    this.#partial = Buffer.allocUnsafe(HEAD_BYTES);
    this.#filled = 0;
    onFrame(toFrame(frame));
    return taken;
  }

  #keep(chunk: Buffer, at: number): number {
    const taken = chunk.copy(this.#partial, this.#filled, at, at + this.#partial.length - this.#filled);
    this.#filled += taken;
    if (this.#filled === HEAD_BYTES && this.#partial.length === HEAD_BYTES) {
      const whole = Buffer.allocUnsafe(frameSize(this.#partial, 0));
      this.#partial.copy(whole);
      this.#partial = whole;
    }
    return taken;
  }
}

function frameSize(bytes: Buffer, at: number): number {
  const counted = bytes.readUInt32LE(at + 1);
  if (counted < COUNTED_HEAD_BYTES || counted > COUNTED_HEAD_BYTES + MAX_PAYLOAD_BYTES) {
    throw new ProtocolError(`a frame says that it is ${counted} bytes long`);
  }
  return HEAD_BYTES - COUNTED_HEAD_BYTES + counted + TAIL.length;
}

function toFrame(bytes: Buffer): Frame {
  if (bytes[bytes.length - 1] !== END) throw new ProtocolError('a frame does not end as one');
  return {
    type: bytes[5] ?? 0,
    id: bytes.readUInt32LE(6),
    payload: bytes.subarray(HEAD_BYTES, bytes.length - TAIL.length),
  };
}
