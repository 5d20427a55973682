import { isUtf8 } from 'node:buffer';
import type { CapturedOutput } from '@vitto/contracts';
import { ByteQueue } from './byte-queue.ts';

/** Bytes kept of the beginning and of the end of a stream. */
export const HEAD_BYTES = 512 * 1024;
export const TAIL_BYTES = 512 * 1024;

/** Keeps head and tail of a byte stream in bounded memory and decodes them as UTF-8 without cutting a character. */
export class OutputCapture {
  readonly #headBytes: number;
  readonly #tailBytes: number;
  readonly #head = new ByteQueue();
  readonly #tail = new ByteQueue();
  #total = 0;
  #isAfterGap = false;
  #validator: InstanceType<typeof TextDecoder> | null = new TextDecoder('utf-8', { fatal: true });

  constructor(headBytes = HEAD_BYTES, tailBytes = TAIL_BYTES) {
    this.#headBytes = headBytes;
    this.#tailBytes = tailBytes;
  }

  push(chunk: Buffer): void {
    this.#total += chunk.length;
    this.#validate(chunk);
    const forHead = Math.min(chunk.length, this.#headBytes - this.#head.size);
    if (forHead > 0) this.#head.push(chunk.subarray(0, forHead));
    if (forHead === chunk.length) return;
    this.#tail.push(chunk.subarray(forHead));
    this.#tail.keepLast(this.#tailBytes);
  }

  /** Counts bytes of the middle that are not at hand. At least `headBytes` came before them, and `tailBytes` follow. */
  skip(bytes: number): void {
    this.#total += bytes;
    if (this.#validator !== null) this.#validator = new TextDecoder('utf-8', { fatal: true });
    this.#isAfterGap = true;
  }

  /** What was captured; call it once the stream has ended. */
  finish(): CapturedOutput {
    this.#validate(null);
    const head = this.#head.concat();
    const tail = this.#tail.concat().subarray(-this.#tailBytes);
    const missing = this.#total - head.length - tail.length;
    const captured = { totalBytes: this.#total, replaced: this.#validator === null };
    if (missing <= 0)
      return { ...captured, text: Buffer.concat([head, tail]).toString('utf8'), missingBytes: 0 };
    const wholeHead = withoutCutEnd(head);
    const wholeTail = withoutCutStart(tail);
    const missingBytes = this.#total - wholeHead.length - wholeTail.length;
    const gap = `\n[… ${missingBytes} bytes not shown …]\n`;
    return { ...captured, text: wholeHead.toString('utf8') + gap + wholeTail.toString('utf8'), missingBytes };
  }

  #validate(chunk: Buffer | null): void {
    try {
      if (chunk === null) this.#validator?.decode();
      else this.#validator?.decode(this.#isAfterGap ? withoutCutStart(chunk) : chunk, { stream: true });
      this.#isAfterGap = false;
    } catch {
      this.#validator = null;
    }
  }
}

/** Drops the beginning of a character whose end is not in `bytes` (at most 3 bytes). */
export function withoutCutEnd(bytes: Buffer): Buffer {
  for (let back = 1; back <= 3 && back <= bytes.length; back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return bytes;
    if (byte >= 0xc0) {
      const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return needed > back ? bytes.subarray(0, bytes.length - back) : bytes;
    }
  }
  return bytes;
}

/** Drops the end of a character whose beginning is not in `bytes` (at most 3 bytes). */
export function withoutCutStart(bytes: Buffer): Buffer {
  let start = 0;
  while (start < 3 && start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return bytes.subarray(start);
}

/** True for bytes that are no text: NUL in them, or not UTF-8. */
export function isBinary(bytes: Buffer): boolean {
  return bytes.includes(0) || !isUtf8(bytes);
}
