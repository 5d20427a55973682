import { EXIT } from './cli-error.ts';

/**
 * Ctrl-C: the first does what the command says, the second quits at once.
 * A prompt reads the keyboard itself and hands its Ctrl-C to `press`.
 */
export class Interrupts {
  readonly #onFirst: () => void;
  #pressed = 0;

  constructor(onFirst: () => void) {
    this.#onFirst = onFirst;
    process.on('SIGINT', this.press);
  }

  get wasPressed(): boolean {
    return this.#pressed > 0;
  }

  press = (): void => {
    this.#pressed += 1;
    if (this.#pressed > 1) process.exit(EXIT.cancelled);
    this.#onFirst();
  };

  /** Gives Ctrl-C back to the system. */
  stop(): void {
    process.off('SIGINT', this.press);
  }
}
