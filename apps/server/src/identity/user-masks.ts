import type { Logger } from '../kernel/logger.ts';
import type { SignalBus } from '../kernel/signal-bus.ts';
import type { CurrentMask } from '../kernel/text/mask-secrets.ts';
import { ValueMask } from '../kernel/text/value-mask.ts';

interface Entry extends CurrentMask {
  /** The last reading of the values; those that came before have ended when it begins. */
  loaded: Promise<void>;
  /** The last reading failed. */
  isStale: boolean;
}

/** What is masked for each user whom this process has worked for, kept up to date by signals. */
export class UserMasks {
  readonly #deps: {
    logger: Logger;
    readValues: (userId: string) => Promise<{ name: string; value: string }[]>;
  };
  readonly #entries = new Map<string, Entry>();

  constructor(
    deps: { signals: Pick<SignalBus, 'listen'>; logger: Logger } & {
      readValues: (userId: string) => Promise<{ name: string; value: string }[]>;
    },
  ) {
    this.#deps = deps;
    deps.signals.listen((signal) => {
      if (signal.kind === 'reconnected') for (const userId of this.#entries.keys()) this.#refresh(userId);
      if (signal.kind === 'changed' && signal.what === 'secrets') this.#refresh(signal.userId ?? '');
    });
  }

  /** Rejects when the values cannot be read: without them nothing may be written for the user. */
  async of(userId: string): Promise<CurrentMask> {
    const known = this.#entries.get(userId);
    const entry = known === undefined || known.isStale ? this.#read(userId) : known;
    await entry.loaded;
    return entry;
  }

  async reload(userId: string): Promise<void> {
    await this.#read(userId).loaded;
  }

  /** Before values go out: a signal that was lost must not mean that they are shown when they come back. */
  async ensureKnown(userId: string, values: readonly string[]): Promise<void> {
    const { current } = await this.of(userId);
    if (values.some((value) => !current.knows(value))) await this.reload(userId);
  }

  #refresh(userId: string): void {
    if (!this.#entries.has(userId)) return;
    this.#read(userId).loaded.catch((error: unknown) => {
      this.#deps.logger.warn({ err: error, userId }, 'could not read changed secrets; they are read again');
    });
  }

  #read(userId: string): Entry {
    const entry: Entry = this.#entries.get(userId) ?? {
      current: new ValueMask(),
      loaded: Promise.resolve(),
      isStale: false,
    };
    this.#entries.set(userId, entry);
    const load = async () => {
      entry.isStale = true;
      entry.current = new ValueMask(await this.#deps.readValues(userId));
      entry.isStale = false;
    };
    entry.loaded = entry.loaded.then(load, load);
    // Who waits for it is told of a failure; a reading that nobody waits for is no reason to end the process.
    entry.loaded.catch(() => undefined);
    return entry;
  }
}
