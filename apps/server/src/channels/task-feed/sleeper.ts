/** Sleeps until it is woken; a waking that comes before the sleep is not lost. For one sleeper at a time. */
export class Sleeper {
  #isWoken = false;
  #resume: (() => void) | null = null;

  wake(): void {
    this.#isWoken = true;
    this.#resume?.();
  }

  /** @throws the signal's reason. */
  async sleep(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (!this.#isWoken) await this.#pause(signal);
    this.#isWoken = false;
    signal.throwIfAborted();
  }

  #pause(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const resume = () => {
        signal.removeEventListener('abort', resume);
        this.#resume = null;
        resolve();
      };
      signal.addEventListener('abort', resume, { once: true });
      this.#resume = resume;
    });
  }
}
