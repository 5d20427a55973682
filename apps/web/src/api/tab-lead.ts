const LOCK = 'vitto.stream';

/**
 * Which of the tabs of this browser leads: the one that holds a lock. When it closes, the browser gives the lock to the
 * next. One that does not answer any more can be overtaken.
 */
export class TabLead {
  readonly #locks: LockManager;
  readonly #onLead: () => void;
  readonly #onOvertaken: () => void;
  #waiting: AbortController | null = null;
  #isLeading = false;

  /** @param onOvertaken another tab leads from now on; `queue` makes this one wait for its turn again. */
  constructor(locks: LockManager, onLead: () => void, onOvertaken: () => void) {
    this.#locks = locks;
    this.#onLead = onLead;
    this.#onOvertaken = onOvertaken;
  }

  get isLeading(): boolean {
    return this.#isLeading;
  }

  /** Leads as soon as nobody else does. */
  queue(): void {
    if (this.#isLeading || this.#waiting !== null) return;
    this.#waiting = new AbortController();
    this.#request({ signal: this.#waiting.signal });
  }

  overtake(): void {
    if (this.#isLeading) return;
    this.#waiting?.abort();
    this.#waiting = null;
    this.#request({ steal: true });
  }

  #request(options: LockOptions): void {
    const held = this.#locks.request(LOCK, options, () => {
      this.#waiting = null;
      this.#isLeading = true;
      this.#onLead();
      // Until the tab closes, or is overtaken.
      return new Promise<never>(() => {});
    });
    held.catch(() => {
      // One that was still waiting has given up its place by itself.
      if (!this.#isLeading) return;
      this.#isLeading = false;
      this.#onOvertaken();
    });
  }
}
