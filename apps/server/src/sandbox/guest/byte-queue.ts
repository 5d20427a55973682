const BLOCK_BYTES = 8192;

/**
 * Bytes that wait, in order. Small pieces are copied together, so that a million of one byte each take the room of a
 * megabyte, and none keeps the larger buffer alive that it was read into. Large ones are kept as they are.
 */
export class ByteQueue {
  #pieces: Buffer[] = [];
  #block: Buffer | null = null;
  #used = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  push(chunk: Buffer): void {
    this.#size += chunk.length;
    if (chunk.length >= BLOCK_BYTES / 2) {
      this.#closeBlock();
      this.#pieces.push(chunk);
      return;
    }
    for (let at = 0; at < chunk.length;) {
      this.#block ??= Buffer.allocUnsafeSlow(BLOCK_BYTES);
      const copied = chunk.copy(this.#block, this.#used, at);
      at += copied;
      this.#used += copied;
      if (this.#used === BLOCK_BYTES) this.#closeBlock();
    }
  }

  /** The oldest piece; empty when there is none. */
  shift(): Buffer {
    if (this.#pieces.length === 0) this.#closeBlock();
    const piece = this.#pieces.shift() ?? Buffer.alloc(0);
    this.#size -= piece.length;
    return piece;
  }

  /** Drops the oldest pieces for as long as at least `bytes` are left. */
  keepLast(bytes: number): void {
    while (this.#size - (this.#pieces[0]?.length ?? Infinity) >= bytes) this.shift();
  }

  concat(): Buffer {
    this.#closeBlock();
    return Buffer.concat(this.#pieces);
  }

  #closeBlock(): void {
    if (this.#block !== null) this.#pieces.push(this.#block.subarray(0, this.#used));
    this.#block = null;
    this.#used = 0;
  }
}
