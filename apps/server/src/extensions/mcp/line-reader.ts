/** Bytes of one line, at most: as much as a message with a large picture takes. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;

/** Cuts a stream of bytes into lines. A character that is split over two pieces is whole again in its line. */
export class LineReader {
  #parts: Buffer[] = [];
  #length = 0;

  /**
   * The lines that end in this piece.
   * @throws Error when a line grows beyond the limit.
   */
  push(piece: Buffer): string[] {
    const lines: string[] = [];
    let rest = piece;
    for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10)) {
      this.#add(rest.subarray(0, end));
      lines.push(Buffer.concat(this.#parts).toString('utf8').replace(/\r$/, ''));
      this.#parts = [];
      this.#length = 0;
      rest = rest.subarray(end + 1);
    }
    this.#add(rest);
    return lines;
  }

  #add(part: Buffer): void {
    if (part.length === 0) return;
    this.#length += part.length;
    if (this.#length > MAX_LINE_BYTES) {
      throw new Error(`it wrote a line of more than ${MAX_LINE_BYTES} bytes`);
    }
    this.#parts.push(part);
  }
}
