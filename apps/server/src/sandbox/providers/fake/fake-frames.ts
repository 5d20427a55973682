import { Buffer } from 'node:buffer';

/** Frames of `images/guest/PROTOCOL.md` as the fake agent reads and writes them: whole ones only, from a host that behaves. */
export interface Frame {
  type: number;
  id: number;
  payload: Buffer;
}

const OVERHEAD = 5;

export function encodeFrame(type: number, id: number, payload: Uint8Array = Buffer.alloc(0)): Buffer {
  const frame = Buffer.alloc(1 + 4 + OVERHEAD + payload.length + 1);
  frame[0] = 0xa5;
  frame.writeUInt32LE(OVERHEAD + payload.length, 1);
  frame[5] = type;
  frame.writeUInt32LE(id, 6);
  frame.set(payload, 10);
  frame[frame.length - 1] = 0x5a;
  return frame;
}

/** A function to be given bytes as they come; calls back with each frame. */
export function readFrames(onFrame: (frame: Frame) => void): (bytes: Buffer) => void {
  let kept: Buffer = Buffer.alloc(0);
  return (bytes) => {
    kept = Buffer.concat([kept, bytes]);
    for (;;) {
      let start = 0;
      while (start < kept.length && kept[start] !== 0xa5) start += 1;
      kept = kept.subarray(start);
      if (kept.length < 10) return;
      const length = kept.readUInt32LE(1);
      if (kept.length < 6 + length) return;
      const frame = kept.subarray(0, 6 + length);
      kept = kept.subarray(6 + length);
      if (frame.at(-1) !== 0x5a) continue;
      onFrame({ type: frame[5] ?? 0, id: frame.readUInt32LE(6), payload: frame.subarray(10, -1) });
    }
  };
}

/** Reads a payload from its beginning to its end. */
export class PayloadReader {
  readonly #bytes: Buffer;
  #at = 0;
  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }
  u8 = (): number => this.take(1).readUInt8();
  u16 = (): number => this.take(2).readUInt16LE();
  u32 = (): number => this.take(4).readUInt32LE();
  u64 = (): number => Number(this.take(8).readBigUInt64LE());
  str = (): string => this.take(this.u32()).toString('latin1');
  strings = (): string[] => Array.from({ length: this.u16() }, () => this.str());
  take(length: number): Buffer {
    return this.#bytes.subarray(this.#at, (this.#at += length));
  }
}

export const packed = {
  u8: (value: number): Buffer => Buffer.from([value]),
  u32: (value: number): Buffer => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32LE(value);
    return bytes;
  },
  i32: (value: number): Buffer => packed.u32(value >>> 0),
  u64: (value: number): Buffer => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64LE(BigInt(value));
    return bytes;
  },
  str: (value: string): Buffer => Buffer.concat([packed.u32(value.length), Buffer.from(value, 'latin1')]),
};
