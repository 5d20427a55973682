import { ProtocolError } from './frame-codec.ts';

/** A text or bytes as the protocol's `str`. */
export function str(value: string | Buffer): Buffer {
  const bytes = typeof value === 'string' ? Buffer.from(value, 'utf8') : value;
  return Buffer.concat([u32(bytes.length), bytes]);
}

export function u8(value: number): Buffer {
  return Buffer.of(value);
}

export function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return bytes;
}

export function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

export function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

/** Reads a payload that a guest sent. @throws ProtocolError where it is shorter than it must be. */
export class PayloadReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  u8(): number {
    return this.take(1).readUInt8();
  }

  u16(): number {
    return this.take(2).readUInt16LE();
  }

  u32(): number {
    return this.take(4).readUInt32LE();
  }

  i32(): number {
    return this.take(4).readInt32LE();
  }

  /** Numbers that no size of anything can be are as wrong as missing ones. */
  u64(): number {
    return toNumber(this.take(8).readBigUInt64LE());
  }

  i64(): number {
    return toNumber(this.take(8).readBigInt64LE());
  }

  str(): Buffer {
    return this.take(this.u32());
  }

  take(count: number): Buffer {
    if (count > this.#bytes.length - this.#at) throw new ProtocolError('a payload is too short');
    this.#at += count;
    return this.#bytes.subarray(this.#at - count, this.#at);
  }
}

function toNumber(value: bigint): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number)) throw new ProtocolError(`a number is beyond all sizes: ${value}`);
  return number;
}
