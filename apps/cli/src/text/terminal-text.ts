/**
 * Makes foreign text (of a model, a tool, a server) safe for a terminal: escape sequences and control characters are
 * dropped, `\n` and `\t` stay, `\r\n` becomes `\n`. A lone `\r` stays for the caller, who knows what it stands for.
 *
 * It is fed in chunks, and sequences, characters and `\r\n` may be cut anywhere between them: the output is the same
 * however the input was cut.
 */
export class TerminalText {
  #state: State = 'text';
  /** What cannot be judged before the next chunk: a `\r` or the first half of a surrogate pair. */
  #held = '';

  push(chunk: string): string {
    const text = this.#held + chunk;
    this.#held = /[\r\ud800-\udbff]$/.exec(text)?.[0] ?? '';
    const whole = this.#held === '' ? text : text.slice(0, -1);
    let out = '';
    for (const char of whole.replaceAll('\r\n', '\n')) {
      // A line end closes what is open: a sequence that never ends must not swallow the rest of an answer.
      if (char === '\n') this.#state = 'text';
      if (this.#state === 'text' && isPlain(char)) out += char;
      else this.#state = nextState(this.#state, char);
    }
    return out.toWellFormed();
  }

  /** The end of the text: what was held back comes out, an unfinished sequence does not. */
  end(): string {
    const rest = this.#state === 'text' && this.#held !== '\r' ? this.#held.toWellFormed() : '';
    this.#state = 'text';
    this.#held = '';
    return rest;
  }
}

/** A whole text made safe; of a line that was overwritten with `\r` (a progress bar) the last state stays. */
export function toPlainText(text: string): string {
  const cleaner = new TerminalText();
  return (cleaner.push(text) + cleaner.end()).split('\n').map(lastState).join('\n');
}

/** One line for a list or a card. */
export function toPlainLine(text: string): string {
  return toPlainText(text).replace(/\s+/gu, ' ').trim();
}

/** What a terminal shows of a line in the end: the last part between carriage returns that has something in it. */
export function lastState(line: string): string {
  if (!line.includes('\r')) return line;
  return line.split('\r').findLast((part) => part !== '') ?? '';
}

/** `string` is the payload of OSC, DCS, SOS, PM and APC; it ends with BEL or ST. */
type State = 'text' | 'escape' | 'intermediate' | 'csi' | 'string' | 'string-escape';

function isPlain(char: string): boolean {
  if (char === '\n' || char === '\t' || char === '\r') return true;
  const code = char.codePointAt(0) ?? 0;
  return code >= 0x20 && (code < 0x7f || code > 0x9f);
}

function nextState(state: State, char: string): State {
  // CAN and SUB cancel a sequence on a real terminal.
  if (char === '\x18' || char === '\x1a') return 'text';
  switch (state) {
    case 'text':
      return afterControl(char);
    case 'escape':
      return afterEscape(char);
    case 'intermediate':
      return char >= ' ' && char <= '/' ? 'intermediate' : 'text';
    case 'csi':
      return afterCsi(char);
    case 'string':
      if (char === '\x07' || char === '\x9c') return 'text';
      return char === '\x1b' ? 'string-escape' : 'string';
    case 'string-escape':
      return char === '\\' ? 'text' : afterEscape(char);
  }
}

function afterControl(char: string): State {
  if (char === '\x1b') return 'escape';
  if (char === '\x9b') return 'csi';
  return '\x90\x98\x9d\x9e\x9f'.includes(char) ? 'string' : 'text';
}

function afterEscape(char: string): State {
  if (char === '\x1b') return 'escape';
  if (char === '[') return 'csi';
  if (']PX^_'.includes(char)) return 'string';
  return char >= ' ' && char <= '/' ? 'intermediate' : 'text';
}

function afterCsi(char: string): State {
  if (char === '\x1b') return 'escape';
  return char >= ' ' && char <= '?' ? 'csi' : 'text';
}
