import { applyColours, PLAIN_LOOK, type TerminalLook } from './terminal-look.ts';

/** A piece of output that looks the same throughout. */
export interface TerminalRun {
  readonly text: string;
  readonly look: TerminalLook;
}

/** A control sequence: CSI; OSC, DCS, PM, APC and SOS with their text; any other escape. Cut ones at the end too. */
const ESCAPES =
  // eslint-disable-next-line no-control-regex
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*(?:[@-~]|$)|(?:\u001b[\]PX^_]|[\u009d\u0090\u0098\u009e\u009f])[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c|\u001b?$|(?=\u001b))|\u001b[ -/]*(?:[0-~]|$)/gu;
// eslint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u0007\u000b\u000c\u000e-\u001f\u007f-\u009f]/gu;
// eslint-disable-next-line no-control-regex
const COLOURS = /^(?:\u001b\[|\u009b)([\d;:]*)m$/u;
// eslint-disable-next-line no-control-regex
const LINK = /^(?:\u001b\]|\u009d)8;[^;]*;([^\u0007\u001b\u009c]*)(?:\u0007|\u001b\\|\u009c)$/u;

/**
 * What a terminal's output shows: text in pieces with their colours. Links lead to the web or nowhere; titles, clipboard
 * and cursor sequences are dropped and never acted on; a line that was written over (`\r`, a progress bar) shows its
 * last state. Reads the whole output each time, so it does not matter where its pieces were cut.
 */
export function terminalToRuns(raw: string): TerminalRun[] {
  const screen = new Screen();
  let look = PLAIN_LOOK;
  let from = 0;
  for (const match of raw.matchAll(ESCAPES)) {
    screen.write(raw.slice(from, match.index), look);
    look = readSequence(match[0], look);
    from = match.index + match[0].length;
  }
  screen.write(raw.slice(from), look);
  return screen.finish();
}

/** The same as plain text. */
export function terminalToText(raw: string): string {
  return terminalToRuns(raw)
    .map((run) => run.text)
    .join('');
}

function readSequence(sequence: string, look: TerminalLook): TerminalLook {
  const colours = COLOURS.exec(sequence);
  if (colours !== null) return applyColours(look, colours[1] ?? '');
  const link = LINK.exec(sequence);
  return link === null ? look : { ...look, link: toSafeLink(link[1] ?? '') };
}

function toSafeLink(address: string): string | null {
  return /^https?:\/\//iu.test(address) && URL.canParse(address) ? new URL(address).href : null;
}

/** Lines as they are written: each `\r` starts over the line, each backspace goes back in it. */
class Screen {
  readonly #runs: TerminalRun[] = [];
  #last = { text: '', look: PLAIN_LOOK };
  /** The line that is being written: letters as one sees them, and how each looks. */
  #letters: string[] = [];
  #looks: TerminalLook[] = [];
  #at = 0;
  /** A shorter state over a longer one is nearly always a new message: what it does not reach is dropped at its end. */
  #isOver = false;

  write(text: string, look: TerminalLook): void {
    const plain = text.replace(CONTROLS, '');
    if (plain === '') return;
    if (!/[\r\b\n]/u.test(plain) && this.#at === this.#letters.length) return this.#append(plain, look);
    for (const letter of plain) this.#put(letter, look);
  }

  finish(): TerminalRun[] {
    this.#endState();
    this.#flush();
    this.#endRun(PLAIN_LOOK);
    return this.#runs;
  }

  #append(text: string, look: TerminalLook): void {
    for (const letter of text) {
      this.#letters.push(letter);
      this.#looks.push(look);
    }
    this.#at = this.#letters.length;
  }

  #put(letter: string, look: TerminalLook): void {
    if (letter === '\n') {
      this.#endState();
      this.#flush();
      return this.#emit('\n', PLAIN_LOOK);
    }
    if (letter === '\r') {
      this.#endState();
      this.#at = 0;
      this.#isOver = true;
      return;
    }
    if (letter === '\b') {
      this.#at = Math.max(0, this.#at - 1);
      return;
    }
    this.#letters[this.#at] = letter;
    this.#looks[this.#at] = look;
    this.#at += 1;
  }

  /** The end of a state of the line: what an earlier, longer one left behind it goes. One that wrote nothing leaves it. */
  #endState(): void {
    if (this.#isOver && this.#at > 0) this.#letters.length = this.#looks.length = this.#at;
    this.#isOver = false;
  }

  #flush(): void {
    for (const [at, letter] of this.#letters.entries()) this.#emit(letter, this.#looks[at] ?? PLAIN_LOOK);
    this.#letters = [];
    this.#looks = [];
    this.#at = 0;
  }

  #emit(text: string, look: TerminalLook): void {
    if (!isSameLook(this.#last.look, look)) this.#endRun(look);
    this.#last.text += text;
  }

  #endRun(next: TerminalLook): void {
    if (this.#last.text !== '') this.#runs.push({ ...this.#last, text: this.#last.text.toWellFormed() });
    this.#last = { text: '', look: next };
  }
}

function isSameLook(one: TerminalLook, other: TerminalLook): boolean {
  return (
    one === other || (Object.keys(one) as (keyof TerminalLook)[]).every((key) => one[key] === other[key])
  );
}
