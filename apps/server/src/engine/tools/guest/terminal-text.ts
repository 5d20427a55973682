/** A line longer than this is handed on in pieces, so that memory stays bounded. */
const MAX_LINE = 64 * 1024;

type State = 'ground' | 'escape' | 'intermediate' | 'csi' | 'string' | 'string-escape';

/** Sequences that move to another line or clear the screen: what was written before stays readable on a line of its own. */
const LEAVES_LINE = 'ABEFHJSTdf';

/**
 * Turns what a program writes to a terminal into plain text: escape sequences are dropped (colours, cursor, titles,
 * hyperlinks, clipboard), and a line that is rewritten after a carriage return is kept in its last state. Feeding
 * the text in any pieces gives the same result, so sequences may be cut anywhere.
 */
export class TerminalText {
  #state: State = 'ground';
  #line = '';
  /** A carriage return was seen: the next character begins the line anew, unless it ends it. */
  #isReturned = false;
  #out = '';

  /** The lines that are now complete. */
  push(text: string): string {
    for (let index = 0; index < text.length;) {
      if (this.#state === 'ground') {
        const plain = plainRun(text, index);
        if (plain > index) {
          this.#write(text.slice(index, plain));
          index = plain;
          continue;
        }
      }
      this.#step(text[index] ?? '');
      index += 1;
    }
    return this.#take();
  }

  /** The last line. An unfinished sequence is dropped. */
  end(): string {
    this.#out += this.#line;
    this.#line = '';
    this.#isReturned = false;
    this.#state = 'ground';
    return this.#take();
  }

  #take(): string {
    const ready = this.#out;
    this.#out = '';
    return ready;
  }

  #step(char: string): void {
    const code = char.charCodeAt(0);
    switch (this.#state) {
      case 'ground':
        return this.#control(char, code);
      case 'escape':
        return this.#afterEscape(char, code);
      case 'intermediate':
        if (code < 0x20 || code > 0x2f) this.#state = 'ground';
        return;
      case 'csi':
        return this.#inCsi(char, code);
      case 'string':
        // Besides its own terminators a new line ends it, so that a stray opener does not swallow the rest.
        if (code === 0x1b) this.#state = 'string-escape';
        else if (code === 0x07 || code === 0x9c || code === 0x18 || code === 0x1a) this.#state = 'ground';
        else if (char === '\n') this.#leave(char, code);
        return;
      case 'string-escape':
        this.#state = 'ground';
        if (char !== '\\') this.#afterEscape(char, code);
    }
  }

  #control(char: string, code: number): void {
    if (char === '\n') this.#endLine();
    else if (char === '\r') this.#isReturned = true;
    else if (char === '\b') this.#line = this.#line.slice(0, -1);
    else if (code === 0x1b) this.#state = 'escape';
    else if (code === 0x9b) this.#state = 'csi';
    else if (code === 0x90 || code === 0x98 || (code >= 0x9d && code <= 0x9f)) this.#state = 'string';
    // NUL stays: the one rule for it is applied where text is stored.
    else if (char === '\t' || code === 0) this.#write(char);
  }

  #afterEscape(char: string, code: number): void {
    if (char === '[') this.#state = 'csi';
    else if (']PX^_'.includes(char)) this.#state = 'string';
    else if (code >= 0x20 && code <= 0x2f) this.#state = 'intermediate';
    else if (code < 0x20) this.#leave(char, code);
    else this.#state = 'ground';
  }

  #inCsi(char: string, code: number): void {
    if (code >= 0x40 && code <= 0x7e) {
      this.#state = 'ground';
      if (LEAVES_LINE.includes(char) && this.#line !== '') this.#endLine();
    } else if (code < 0x20 || code > 0x7e) this.#leave(char, code);
  }

  /** A control character in the middle of a sequence ends it and keeps its own meaning. */
  #leave(char: string, code: number): void {
    this.#state = 'ground';
    if (code < 0x20 || (code >= 0x7f && code <= 0x9f)) this.#control(char, code);
    else this.#write(char);
  }

  #write(text: string): void {
    if (this.#isReturned) this.#line = '';
    this.#isReturned = false;
    this.#line += text;
    while (this.#line.length > MAX_LINE) {
      // One unit less where the cut would part a surrogate pair.
      const cut = (this.#line.charCodeAt(MAX_LINE - 1) & 0xfc00) === 0xd800 ? MAX_LINE - 1 : MAX_LINE;
      this.#out += this.#line.slice(0, cut);
      this.#line = this.#line.slice(cut);
    }
  }

  #endLine(): void {
    this.#out += `${this.#line}\n`;
    this.#line = '';
    this.#isReturned = false;
  }
}

/** The same for a whole text. */
export function toPlainText(text: string): string {
  const terminal = new TerminalText();
  return terminal.push(text) + terminal.end();
}

// eslint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/g;

function plainRun(text: string, from: number): number {
  CONTROL.lastIndex = from;
  return CONTROL.exec(text)?.index ?? text.length;
}
