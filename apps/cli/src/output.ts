import type { WriteStream } from 'node:tty';
import pc from 'picocolors';
import { fitColumns } from './text/format.ts';
import { toJsonLine } from './text/json-line.ts';
import { toPlainText } from './text/terminal-text.ts';

type Sink = NodeJS.WritableStream & Partial<Pick<WriteStream, 'isTTY' | 'columns'>>;

/**
 * The two channels of a command: results on stdout, everything about them on stderr. On a terminal stderr also has a
 * last line that says what runs now and is replaced in place.
 * Texts that are handed in are already safe, save where a method says that it cleans them.
 */
export class Output {
  readonly json: boolean;
  readonly verbose: boolean;
  /** True when stdout is a terminal, where a person reads along. */
  readonly isTerminal: boolean;
  /** True when notes, cards and summaries are shown: to a person, or when they were asked for. */
  readonly isTalkative: boolean;
  /** Colours for stderr; they do nothing where colours are not wanted. */
  readonly colors: ReturnType<typeof pc.createColors>;
  readonly #out: Sink;
  readonly #err: Sink;
  #isMidLine = false;
  #status = '';
  #isPaused = false;

  constructor(out: Sink, err: Sink, options: { json: boolean; verbose: boolean; color: boolean }) {
    this.#out = out;
    this.#err = err;
    this.json = options.json;
    this.verbose = options.verbose;
    this.isTerminal = out.isTTY === true && !options.json;
    this.isTalkative = !options.json && (err.isTTY === true || options.verbose);
    this.colors = pc.createColors(options.color && err.isTTY === true && !options.json);
  }

  /** A piece of the answer, as it comes. */
  text(piece: string): void {
    if (piece === '') return;
    this.#hideStatus();
    this.#out.write(piece);
    this.#isMidLine = !piece.endsWith('\n');
    if (!this.#isMidLine) this.#showStatus();
  }

  /** Ends the line of the answer, if one is open. */
  endLine(): void {
    if (this.#isMidLine) this.text('\n');
  }

  /** A line of the result. */
  line(text = ''): void {
    this.text(`${text}\n`);
  }

  /** A JSON document, or one of many. */
  document(value: unknown): void {
    this.#out.write(`${toJsonLine(value)}\n`);
  }

  /** Something a person must see whatever stderr is: refusals, degraded runs, what waits for them. */
  notice(text: string): void {
    if (!this.json) this.#tell(text);
  }

  /** Something about the work: cards, retries, the summary. Left out where nobody reads along. */
  note(text: string): void {
    if (this.isTalkative) this.#tell(text);
  }

  /** An error in one or two lines. The texts are cleaned here: they may be the server's. */
  error(problem: { code: string; message: string; hint?: string | undefined }): void {
    this.clearStatus();
    if (this.json) {
      this.#err.write(`${toJsonLine({ error: problem })}\n`);
      return;
    }
    this.#tell(this.colors.red(toPlainText(problem.message)));
    if (problem.hint !== undefined) this.#tell(toPlainText(problem.hint));
  }

  /** What runs now, in the last line of a terminal; nothing elsewhere, and nothing while a question stands there. */
  status(text: string): void {
    if (this.#err.isTTY !== true || this.json || this.#isPaused) return;
    this.#hideStatus();
    // A terminal that does not know its width says 0.
    this.#status = fitColumns(text, (this.#err.columns || 80) - 1);
    this.#showStatus();
  }

  pauseStatus(isPaused: boolean): void {
    this.clearStatus();
    this.#isPaused = isPaused;
  }

  clearStatus(): void {
    this.#hideStatus();
    this.#status = '';
  }

  #tell(text: string): void {
    this.#hideStatus();
    if (this.#isMidLine && this.#out.isTTY === true) this.endLine();
    this.#hideStatus();
    this.#err.write(`${text}\n`);
    this.#showStatus();
  }

  #showStatus(): void {
    const isAnswerInTheWay = this.#isMidLine && this.#out.isTTY === true;
    if (this.#status !== '' && !isAnswerInTheWay) this.#err.write(`\r${this.colors.dim(this.#status)}\x1b[K`);
  }

  #hideStatus(): void {
    const isAnswerInTheWay = this.#isMidLine && this.#out.isTTY === true;
    if (this.#status !== '' && !isAnswerInTheWay) this.#err.write('\r\x1b[K');
  }
}
