import { BLOCK, badFile, paddingOf, readHeader } from './archive-format.ts';

/** Reads a stream in pieces of the sizes that are asked for. */
export class ArchiveReader {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(stream: AsyncIterable<Buffer>) {
    this.#chunks = stream[Symbol.asyncIterator]();
  }

  /** The next part's name and size; `null` at the end. Its content must be read before the next is asked for. */
  async next(): Promise<{ name: string; size: number } | null> {
    return readHeader(await this.#readExactly(BLOCK));
  }

  /** The content of a part, piece by piece, and what fills its last block. */
  async *content(size: number): AsyncGenerator<Buffer> {
    let left = size;
    while (left > 0) {
      const piece = await this.#readSome(left);
      left -= piece.length;
      yield piece;
    }
    await this.#readExactly(paddingOf(size));
  }

  async #readExactly(size: number): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for (let left = size; left > 0;) {
      const piece = await this.#readSome(left);
      pieces.push(piece);
      left -= piece.length;
    }
    return Buffer.concat(pieces);
  }

  /** At least one byte and at most `most`. */
  async #readSome(most: number): Promise<Buffer> {
    while (this.#rest.length === 0) {
      const next = await this.#chunks.next();
      if (next.done === true) throw badFile('it ends too soon');
      this.#rest = next.value;
    }
    const piece = this.#rest.subarray(0, most);
    this.#rest = this.#rest.subarray(piece.length);
    return piece;
  }
}
