import { GuestError } from '@vitto/contracts';

export interface RunningCall {
  taskId: string | null;
  /** What runs, for people; `null` for calls that are no commands. */
  command: string | null;
  since: Date;
}

/**
 * The calls that are under way in one VM. When the VM ends or is suspended, all of them end at once with
 * `session-lost`, whatever the channel to the guest does.
 */
export class SessionCalls {
  readonly #calls = new Set<RunningCall>();
  readonly #lost = Promise.withResolvers<never>();
  #isCut = false;
  /** Told when the last call has ended. */
  readonly #onQuiet: () => void;

  constructor(onQuiet: () => void) {
    this.#onQuiet = onQuiet;
    this.#lost.promise.catch(() => undefined);
  }

  get running(): readonly RunningCall[] {
    return [...this.#calls];
  }

  async run<T>(call: Omit<RunningCall, 'since'>, work: () => Promise<T>): Promise<T> {
    const running = { ...call, since: new Date() };
    this.#calls.add(running);
    try {
      return await Promise.race([work(), this.#lost.promise]);
    } finally {
      this.#calls.delete(running);
      if (this.#calls.size === 0 && !this.#isCut) this.#onQuiet();
    }
  }

  cut(reason: string): void {
    this.#isCut = true;
    this.#lost.reject(sessionLost(reason));
  }
}

export function sessionLost(reason: string): GuestError {
  return new GuestError(
    'session-lost',
    `The machine is no longer there: ${reason}.`,
    'The next call starts it again.',
  );
}
