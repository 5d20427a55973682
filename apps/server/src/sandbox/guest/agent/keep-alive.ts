const ASK_MS = 15_000;
/** Times that nothing was heard in a row. Counted, not measured: a host that slept has not waited. */
const MAX_SILENT = 4;

/** Notices an agent that is silent for a minute while something waits for it: one that was started anew knows of nothing. */
export class KeepAlive {
  readonly #timer: NodeJS.Timeout;
  #silent = 0;

  constructor(parts: { isNeeded: () => boolean; ask: () => void; onSilence: (reason: string) => void }) {
    this.#timer = setInterval(() => {
      if (!parts.isNeeded()) this.#silent = 0;
      else if (this.#silent >= MAX_SILENT) parts.onSilence('its agent has been silent for a minute');
      else {
        this.#silent += 1;
        parts.ask();
      }
    }, ASK_MS);
    this.#timer.unref();
  }

  hear(): void {
    this.#silent = 0;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
