import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from './logger.ts';

/** What processes tell each other. Signals only wake: what is read afterwards is the database. */
export type Signal =
  /** There is something new in this user's journal. */
  | { kind: 'journal'; userId: string }
  /** A task was cancelled or seized: its owner stops at once. */
  | { kind: 'task-seized'; taskId: string }
  /** Something that processes keep in memory was changed; `userId`: whose, `null` for the whole installation's. */
  | { kind: 'changed'; what: ChangedThing; userId: string | null }
  /** The connection was lost for a while: anything may have happened. */
  | { kind: 'reconnected' };

export type ChangedThing = 'secrets' | 'mcp-servers';

const CHANNEL = 'vitto_signals';
/** Journal signals of one user within this time go out as one. */
const COALESCE_MS = 15;
/** Pause before each try to connect again, and how long a try may take. */
const RECONNECT_MS = 500;
const CONNECT_TIMEOUT_MS = 5_000;

/**
 * Signals between the processes of an installation by LISTEN/NOTIFY, sent outside of the writers' transactions
 * (a NOTIFY inside one would make all commits queue up). A signal that is lost is made good by the readers' own
 * slow polling.
 */
export class SignalBus {
  readonly #url: string;
  readonly #publish: (text: string, values: unknown[]) => Promise<unknown>;
  readonly #logger: Logger;
  readonly #listeners = new Set<(signal: Signal) => void>();
  readonly #pending = new Set<string>();
  #timer: NodeJS.Timeout | null = null;
  #client: pg.Client | null = null;
  readonly #stopping = new AbortController();

  constructor(options: {
    url: string;
    publish: (text: string, values: unknown[]) => Promise<unknown>;
    logger: Logger;
  }) {
    this.#url = options.url;
    this.#publish = options.publish;
    this.#logger = options.logger;
  }

  /** Subscribes until the returned function is called. */
  listen(listener: (signal: Signal) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async start(): Promise<void> {
    await this.#connect();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#listeners.clear();
    await this.#client?.end().catch(() => undefined);
    this.#client = null;
  }

  /** Says that a user's journal has grown: to this process at once, to the others within milliseconds. */
  journalGrew(userId: string): void {
    if (this.#isStopped) return;
    this.#deliver({ kind: 'journal', userId });
    this.#pending.add(userId);
    this.#timer ??= setTimeout(() => void this.#flush(), COALESCE_MS);
  }

  /** Tells every process that a task has been taken from its owner. */
  async taskSeized(taskId: string): Promise<void> {
    this.#deliver({ kind: 'task-seized', taskId });
    await this.#notify([{ kind: 'task-seized', taskId }]);
  }

  /** Tells every process that what it keeps of a thing in memory is out of date. */
  async changed(what: ChangedThing, userId: string | null): Promise<void> {
    this.#deliver({ kind: 'changed', what, userId });
    await this.#notify([{ kind: 'changed', what, userId }]);
  }

  async #flush(): Promise<void> {
    this.#timer = null;
    const signals = [...this.#pending].map((userId) => ({ kind: 'journal' as const, userId }));
    this.#pending.clear();
    await this.#notify(signals);
  }

  async #notify(signals: Signal[]): Promise<void> {
    try {
      await this.#publish('select pg_notify($1, s) from unnest($2::text[]) as s', [
        CHANNEL,
        signals.map((signal) => JSON.stringify({ ...signal, from: this.#id })),
      ]);
    } catch (error) {
      this.#logger.warn({ err: error }, 'could not signal the other processes; they will poll');
    }
  }

  get #isStopped(): boolean {
    return this.#stopping.signal.aborted;
  }

  readonly #id = `${process.pid}-${Math.random().toString(36).slice(2)}`;

  async #connect(): Promise<void> {
    const client = new pg.Client({
      connectionString: this.#url,
      application_name: 'vitto-signals',
      keepAlive: true,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    });
    client.on('notification', (message) => this.#receive(message.payload));
    client.on('error', () => undefined);
    client.on('end', () => {
      if (!this.#isStopped && this.#client === client) void this.#reconnect();
    });
    try {
      await client.connect();
      await client.query(`listen ${CHANNEL}`);
    } catch (error) {
      await client.end().catch(() => undefined);
      throw error;
    }
    // Stopped while it connected: nobody else would close it.
    if (this.#isStopped) await client.end().catch(() => undefined);
    else this.#client = client;
  }

  async #reconnect(): Promise<void> {
    this.#client = null;
    this.#logger.warn('lost the connection that carries signals; connecting again');
    while (!this.#isStopped) {
      try {
        await pause(RECONNECT_MS, undefined, { signal: this.#stopping.signal });
        await this.#connect();
        this.#deliver({ kind: 'reconnected' });
        return;
      } catch {
        // The database is still away, and the next round tries again; or the bus was stopped.
      }
    }
  }

  #receive(payload: string | undefined): void {
    const signal = parseSignal(payload ?? '');
    if (signal === null) this.#logger.warn('another program sent a signal that is none; it is left out');
    else if (signal.from !== this.#id) this.#deliver(signal);
  }

  #deliver(signal: Signal): void {
    for (const listener of this.#listeners) {
      try {
        listener(signal);
      } catch (error) {
        // Neither the writer that signals nor the other listeners have to do with it.
        this.#logger.error({ err: error }, 'a listener to signals failed');
      }
    }
  }
}

/** A signal as it came over the channel, on which any program may write; `null` when it is none. */
function parseSignal(payload: string): (Signal & { from?: unknown }) | null {
  let signal: Record<'kind' | 'userId' | 'taskId' | 'what' | 'from', unknown> | null;
  try {
    signal = JSON.parse(payload) as typeof signal;
  } catch {
    return null;
  }
  const { kind, userId, taskId, what, from } = signal ?? {};
  if (kind === 'journal' && typeof userId === 'string') return { kind, userId, from };
  if (kind === 'task-seized' && typeof taskId === 'string') return { kind, taskId, from };
  if (kind === 'changed' && typeof what === 'string' && (userId === null || typeof userId === 'string')) {
    return { kind, what: what as ChangedThing, userId, from };
  }
  return null;
}
