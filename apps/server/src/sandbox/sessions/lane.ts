/** Changes of one thing, one after the other. What comes after one that failed begins all the same. */
export class Lane {
  #last: Promise<unknown> = Promise.resolve();
  #count = 0;

  get isBusy(): boolean {
    return this.#count > 0;
  }

  /** Settles when all that has been begun so far is done. */
  get done(): Promise<unknown> {
    return this.#last;
  }

  run<T>(work: () => Promise<T>): Promise<T> {
    this.#count += 1;
    const done = this.#last.then(work).finally(() => (this.#count -= 1));
    this.#last = done.catch(() => undefined);
    return done;
  }
}
