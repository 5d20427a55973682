export interface Match {
  /** As a byte string. */
  path: string;
  line: number;
  text: string;
}

const MAX_LINE_BYTES = 2000;
/** No path is longer; a guest that says otherwise is not believed. */
const MAX_FIELD_BYTES = 16_384;

/** Reads `PATH NUL LINE ':' TEXT NEWLINE` records from grep, keeping a bounded part of each line. */
export class MatchReader {
  readonly matches: Match[] = [];
  readonly #max: number;
  #field: 'path' | 'line' | 'text' = 'path';
  #path = '';
  #line = '';
  #text: Buffer[] = [];
  #textSize = 0;

  constructor(maxMatches: number) {
    this.#max = maxMatches;
  }

  /** True once there is a match more than was asked for. */
  get isFull(): boolean {
    return this.matches.length > this.#max;
  }

  push(chunk: Buffer): void {
    let start = 0;
    while (start < chunk.length && !this.isFull) {
      const end = chunk.indexOf(this.#field === 'path' ? 0 : this.#field === 'line' ? 0x3a : 0x0a, start);
      this.#append(chunk.subarray(start, end === -1 ? undefined : end));
      if (end === -1) return;
      this.#next();
      start = end + 1;
    }
  }

  #append(part: Buffer): void {
    if (this.#field === 'path') this.#path = bounded(this.#path, part);
    else if (this.#field === 'line') this.#line = bounded(this.#line, part);
    else {
      const room = MAX_LINE_BYTES - this.#textSize;
      if (room > 0) this.#text.push(Buffer.from(part.subarray(0, room)));
      this.#textSize += part.length;
    }
  }

  #next(): void {
    if (this.#field === 'path') this.#field = 'line';
    else if (this.#field === 'line') this.#field = 'text';
    else {
      const cut = this.#textSize > MAX_LINE_BYTES ? ` [… ${this.#textSize - MAX_LINE_BYTES} bytes more]` : '';
      this.matches.push({
        path: this.#path,
        line: Number(this.#line),
        text: Buffer.concat(this.#text).toString('utf8') + cut,
      });
      this.#field = 'path';
      this.#path = '';
      this.#line = '';
      this.#text = [];
      this.#textSize = 0;
    }
  }
}

function bounded(field: string, part: Buffer): string {
  return field.length < MAX_FIELD_BYTES
    ? field + part.subarray(0, MAX_FIELD_BYTES).toString('latin1')
    : field;
}
