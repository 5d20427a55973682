/** A line of a text, or a piece of one that is too long to be drawn at once. */
export interface TextLine {
  /** From 1; `null` on pieces after the first. */
  readonly number: number | null;
  readonly text: string;
  /** The line goes on in the next piece. */
  readonly goesOn: boolean;
}

/** Longest piece, in UTF-16 units: what one row of the page can hold without being felt. */
const PIECE_MAX = 2_000;

/** Cuts a text that comes in parts into lines; the same lines wherever it was cut. */
export class LineSplitter {
  readonly lines: TextLine[] = [];
  #rest = '';
  #number = 1;

  add(text: string): void {
    const parts = (this.#rest + text).split('\n');
    this.#rest = parts.pop() ?? '';
    for (const part of parts) this.#put(part);
    // A line without an end must not be read again with each part.
    if (this.#rest.length > 64 * PIECE_MAX) this.#putPieces();
  }

  /** Takes what comes after the last line break as a line, when there is anything. */
  end(): void {
    if (this.#rest !== '' || this.lines.at(-1)?.goesOn === true) this.#put(this.#rest);
    this.#rest = '';
  }

  #put(line: string): void {
    let rest = line.endsWith('\r') ? line.slice(0, -1) : line;
    while (rest.length > PIECE_MAX) rest = this.#putPiece(rest);
    this.#push(rest, false);
    this.#number += 1;
  }

  #putPieces(): void {
    // A carriage return may be the last unit of it.
    while (this.#rest.length > PIECE_MAX) this.#rest = this.#putPiece(this.#rest);
  }

  #putPiece(text: string): string {
    const end = isHighSurrogate(text.charCodeAt(PIECE_MAX - 1)) ? PIECE_MAX - 1 : PIECE_MAX;
    this.#push(text.slice(0, end), true);
    return text.slice(end);
  }

  #push(text: string, goesOn: boolean): void {
    const isPiece = this.lines.at(-1)?.goesOn === true;
    this.lines.push({ number: isPiece ? null : this.#number, text, goesOn });
  }
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
