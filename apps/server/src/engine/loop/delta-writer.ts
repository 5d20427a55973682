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

/** What is held back of a text that goes on, at most, in UTF-16 units: no well-known secret is longer. */
const HOLD_BACK = 4_096;
/** A private key of which more than this has come is masked as it stands. */
const KEY_MAX = 16_384;
const KEY_BEGIN = /-----BEGIN [A-Z ]*PRIVATE KEY-----/g;

/** Where a private key begins whose end has not come yet; the length of the text when there is none. */
function findOpenKey(text: string): number {
  const begin = [...text.matchAll(KEY_BEGIN)].at(-1)?.index;
  if (begin === undefined || text.length - begin > KEY_MAX) return text.length;
  return text.includes('-----END', begin) ? text.length : begin;
}

/** Where a masked text may be cut so that no half of a secret is shown: at its last line break, since none goes over one. */
function findSafeEnd(masked: string): number {
  return Math.max(masked.lastIndexOf('\n') + 1, masked.length - Math.max(longestSecret(), HOLD_BACK));
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
  /** Of what waits, this much was held back on purpose. */
  #held = 0;

  constructor(options: DeltaWriterOptions) {
    this.#options = options;
  }

  async push(text: string): Promise<void> {
    this.#throwFailure();
    // A handler that was left behind says nothing after its end.
    if (this.#isFinished) return;
    this.#pending += text;
    if (this.#pending.length - this.#held >= this.#options.maxLength) {
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
    // Whole secrets are masked now; what may be the beginning of one waits.
    const key = findOpenKey(text);
    const masked = maskSecrets(text.slice(0, key));
    const end = key < text.length ? masked.length : findSafeEnd(masked);
    this.#pending = masked.slice(end) + text.slice(key);
    this.#held = this.#pending.length;
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
