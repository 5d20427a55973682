import { longestSecret, maskSecrets } from '../../kernel/text/mask-secrets.ts';

export interface DeltaWriterOptions {
  /** Writes one coalesced delta. */
  write: (text: string) => Promise<void>;
  /** At most one write in this time. */
  everyMs: number;
  /** A write is not put off once this much waits, in UTF-16 units. */
  maxLength: number;
  /** Hold back the end of the text while a secret may be half of it; for text that can hold one. */
  holdsBackSecrets?: boolean;
}

/** No well-known token is longer, in UTF-16 units. */
const HOLD_BACK = 4_096;

/** Index of the last white space; -1 without one. */
function lastSpace(text: string): number {
  for (let index = text.length - 1; index >= 0; index -= 1) if (/\s/.test(text[index] ?? '')) return index;
  return -1;
}

/** Coalesces deltas into few journal events. `push` resolves when there is room again: that is the back-pressure. */
export class DeltaWriter {
  readonly #options: DeltaWriterOptions;
  #pending = '';
  #timer: NodeJS.Timeout | null = null;
  #lastWrite = 0;
  #writing: Promise<void> = Promise.resolve();
  #failure: unknown = null;
  #isFinished = false;

  constructor(options: DeltaWriterOptions) {
    this.#options = options;
  }

  async push(text: string): Promise<void> {
    this.#throwFailure();
    // A handler that was left behind says nothing after its end.
    if (this.#isFinished) return;
    this.#pending += text;
    if (this.#pending.length >= this.#options.maxLength) {
      await this.#flush(false);
      this.#throwFailure();
      return;
    }
    const wait = Math.max(0, this.#lastWrite + this.#options.everyMs - performance.now());
    this.#timer ??= setTimeout(() => void this.#flush(false), wait);
  }

  /** Writes what waits; after it nothing more is written. */
  async finish(): Promise<void> {
    this.#isFinished = true;
    await this.#flush(true);
    this.#throwFailure();
  }

  /** Drops what waits: what follows says the whole. */
  async discard(): Promise<void> {
    this.#pending = '';
    this.#stopTimer();
    await this.#writing;
  }

  #flush(isLast: boolean): Promise<void> {
    this.#stopTimer();
    this.#writing = this.#writing.then(async () => {
      const text = this.#take(isLast);
      if (text === '' || this.#failure !== null) return;
      this.#lastWrite = performance.now();
      try {
        await this.#options.write(text);
      } catch (error) {
        this.#failure = error;
      }
    });
    return this.#writing;
  }

  #take(isLast: boolean): string {
    const text = this.#pending;
    if (isLast || this.#options.holdsBackSecrets !== true) {
      this.#pending = '';
      return text;
    }
    // Whole secrets are masked now. What may be the beginning of one waits: it holds no white space, and has an end.
    const masked = maskSecrets(text);
    const end = Math.max(lastSpace(masked) + 1, masked.length - Math.max(longestSecret(), HOLD_BACK));
    this.#pending = masked.slice(end);
    return masked.slice(0, end);
  }

  #stopTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #throwFailure(): void {
    if (this.#failure !== null) throw this.#failure as Error;
  }
}
