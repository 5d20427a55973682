/** Sleeps until it is woken; a waking that comes before the sleep is not lost. For one sleeper at a time. */
export class Sleeper {
  #isWoken = false;
  #resume: (() => void) | null = null;

  wake(): void {
    this.#isWoken = true;
    this.#resume?.();
  }

  /**
   * Until `wake`, or `ms` milliseconds at most.
   * @throws the signal's reason.
   */
  async sleep(ms: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (!this.#isWoken) await this.#pause(ms, signal);
    this.#isWoken = false;
    signal.throwIfAborted();
  }

  #pause(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const resume = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', resume);
        this.#resume = null;
        resolve();
      };
      const timer = setTimeout(resume, ms);
      signal.addEventListener('abort', resume, { once: true });
      this.#resume = resume;
    });
  }
}
