/** Text that is written only if more follows it, such as the bracket before a link. */
export interface Mark {
  text: string;
}

/** What begins the lines of a list item or a quotation: `first` once, `rest` on the lines after. */
interface Prefix {
  first: string;
  rest: string;
  isUsed: boolean;
}

/** Puts text together line by line: folds white space, owes line ends until text follows, begins lines with prefixes. */
export class TextWriter {
  readonly #maxLength: number;
  readonly #parts: string[] = [];
  #length = 0;
  #owedBreaks = 0;
  #owesSpace = false;
  #isFresh = true;
  #flat = 0;
  readonly #prefixes: Prefix[] = [];
  #pending: Mark[] = [];

  constructor(maxLength: number) {
    this.#maxLength = maxLength;
  }
  /** True when nothing more is taken. */
  get isFull(): boolean {
    return this.#length >= this.#maxLength;
  }
  toString(): string {
    return this.#parts.join('').replace(/[ \t]+$/gm, '');
  }

  /** Running text; white space is folded. */
  text(raw: string): void {
    const folded = raw.replace(/\s+/g, ' ');
    if (folded.startsWith(' ')) this.space();
    const words = folded.trim();
    if (words === '') return;
    this.#emit(words);
    if (folded.endsWith(' ')) this.space();
  }
  /** Text whose spaces and line ends are kept. */
  raw(text: string): void {
    for (const [index, line] of text.split(/\r?\n/).entries()) {
      if (index > 0) this.#owedBreaks++;
      if (line !== '') this.#emit(line);
    }
  }
  space(): void {
    this.#owesSpace = true;
  }
  /** What follows begins on a new line (in a table's cell: after a space). */
  line(): void {
    if (this.#flat > 0) this.space();
    else this.#owedBreaks = Math.max(this.#owedBreaks, 1);
  }
  /** What follows stands after an empty line. */
  paragraph(): void {
    if (this.#flat > 0) this.space();
    else this.#owedBreaks = Math.max(this.#owedBreaks, 2);
  }

  open(text: string): Mark {
    const mark = { text };
    this.#pending.push(mark);
    return mark;
  }
  /** Ends what a mark began with `text`; writes neither when nothing came between. */
  close(mark: Mark, text: string): void {
    const kept = this.#pending.filter((other) => other !== mark);
    if (kept.length < this.#pending.length) this.#pending = kept;
    else this.#push(text);
  }
  indent(first: string, rest: string): void {
    this.#prefixes.push({ first, rest, isUsed: false });
  }
  outdent(): void {
    this.#prefixes.pop();
  }
  /** Until `unflatten`, no line ends are written. */
  flatten(): void {
    this.#flat++;
  }
  unflatten(): void {
    this.#flat--;
  }

  #emit(text: string): void {
    if (this.#isFresh || this.#owedBreaks > 0) {
      if (!this.#isFresh) this.#push('\n'.repeat(this.#owedBreaks));
      for (const prefix of this.#prefixes) {
        this.#push(prefix.isUsed ? prefix.rest : prefix.first);
        prefix.isUsed = true;
      }
    } else if (this.#owesSpace) this.#push(' ');
    this.#isFresh = false;
    this.#owedBreaks = 0;
    this.#owesSpace = false;
    for (const mark of this.#pending) this.#push(mark.text);
    this.#pending = [];
    this.#push(text);
  }
  #push(text: string): void {
    if (this.isFull) return;
    this.#parts.push(text);
    this.#length += text.length;
  }
}
