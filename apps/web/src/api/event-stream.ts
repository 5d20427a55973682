import { eventEnvelope, type EventEnvelope } from '@vitto/contracts';
import { createEventSource, type EventSourceClient, type FetchLike } from 'eventsource-client';

/** `idle`: nothing to follow yet. `offline`: no network, or no answer for a while. */
export type StreamState = 'idle' | 'connecting' | 'live' | 'reconnecting' | 'offline';

export interface StreamListener {
  onEvents: (events: readonly EventEnvelope[]) => void;
  /** The server cannot resume from where this page was: what is shown must be loaded again. */
  onResync: () => void;
}

/** The server sends at least a comment each 15 s; a connection that is silent for longer than this is dead. */
const SILENCE_MS = 40_000;
const RETRY_MS = [300, 1_000, 2_000, 4_000, 8_000, 15_000];
/** Tries in a row without an answer after which the page says that it is offline. */
const OFFLINE_AFTER = 4;

/**
 * The one stream of a page: everything of this person, from a journal position on, resumed after each break by the id
 * of the last event. It begins when somebody has loaded a history and says up to which position.
 */
export class EventStream {
  readonly #onSignedOut: () => void;
  readonly #listeners = new Set<StreamListener>();
  readonly #stateListeners = new Set<() => void>();
  #state: StreamState = 'idle';
  #source: EventSourceClient | null = null;
  #lastId: string | null = null;
  #failures = 0;
  #timer: number | undefined;
  #silence: number | undefined;

  constructor(onSignedOut: () => void) {
    this.#onSignedOut = onSignedOut;
    window.addEventListener('online', () => this.#reconnectNow());
    window.addEventListener('offline', () => this.#lose());
    document.addEventListener('visibilitychange', () => {
      if (document.visibilityState === 'visible') this.#reconnectNow();
    });
  }

  get state(): StreamState {
    return this.#state;
  }

  readonly subscribeState = (listener: () => void): (() => void) => {
    this.#stateListeners.add(listener);
    return () => this.#stateListeners.delete(listener);
  };

  subscribe(listener: StreamListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Follows from this position on, unless the stream already runs: then it has been further, or will be. */
  ensureStarted(position: number): void {
    if (this.#lastId !== null) return;
    this.#lastId = String(position);
    this.#setState('connecting');
    this.#open();
  }

  /** After signing in again: goes on where it was. */
  resume(): void {
    if (this.#lastId !== null && this.#source === null) this.#reconnectNow();
  }

  #open(): void {
    window.clearTimeout(this.#timer);
    if (this.#lastId === null) return;
    this.#source = createEventSource({
      url: '/api/events',
      credentials: 'same-origin',
      initialLastEventId: this.#lastId,
      fetch: this.#fetchStream,
      onMessage: (message) => this.#receive(message),
      onComment: () => this.#watchSilence(),
      onScheduleReconnect: () => this.#lose(),
    });
  }

  /** The library reads any answer as a stream: one that is none is refused here. */
  readonly #fetchStream: FetchLike = async (url, init) => {
    const response = await fetch(url, init);
    if (response.status === 401) {
      this.#close();
      this.#setState('idle');
      this.#onSignedOut();
    }
    if (!response.ok) throw new Error(`the stream answered ${response.status}`);
    this.#failures = 0;
    this.#setState('live');
    this.#watchSilence();
    return response;
  };

  #receive(message: { id?: string | undefined; event?: string | undefined; data: string }): void {
    this.#watchSilence();
    if (message.event === 'resync') return this.#resync();
    if (message.id !== undefined && message.id !== '') this.#lastId = message.id;
    const event = readEvent(message.data);
    if (event === null) return;
    for (const listener of this.#listeners) listener.onEvents([event]);
  }

  #resync(): void {
    this.#close();
    this.#lastId = null;
    this.#setState('reconnecting');
    for (const listener of this.#listeners) listener.onResync();
  }

  #watchSilence(): void {
    window.clearTimeout(this.#silence);
    this.#silence = window.setTimeout(() => this.#lose(), SILENCE_MS);
  }

  /** The connection is gone: tries again, sooner at first. */
  #lose(): void {
    if (this.#lastId === null) return;
    this.#close();
    this.#failures += 1;
    const isOffline = !navigator.onLine || this.#failures > OFFLINE_AFTER;
    this.#setState(isOffline ? 'offline' : 'reconnecting');
    const delay = RETRY_MS[Math.min(this.#failures - 1, RETRY_MS.length - 1)] ?? 0;
    this.#timer = window.setTimeout(() => this.#open(), delay * (0.75 + Math.random() / 2));
  }

  #reconnectNow(): void {
    if (this.#state === 'live' || this.#lastId === null) return;
    this.#close();
    this.#open();
  }

  #close(): void {
    window.clearTimeout(this.#timer);
    window.clearTimeout(this.#silence);
    this.#source?.close();
    this.#source = null;
  }

  #setState(state: StreamState): void {
    if (state === this.#state) return;
    this.#state = state;
    for (const listener of this.#stateListeners) listener();
  }
}

function readEvent(data: string): EventEnvelope | null {
  try {
    const parsed = eventEnvelope.safeParse(JSON.parse(data));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}
