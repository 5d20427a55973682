import { eventEnvelope, type EventEnvelope } from '@vitto/contracts';
import { createEventSource, type EventSourceClient, type FetchLike } from 'eventsource-client';
import { noteServerDate } from './server-clock.ts';

/** `idle`: nothing to follow yet. `offline`: no network, or no answer for a while. */
export type StreamState = 'idle' | 'connecting' | 'live' | 'reconnecting' | 'offline';

export interface ConnectionHooks {
  /** An event, and the position from which the stream goes on after it. */
  onEvent: (event: EventEnvelope | null, position: number) => void;
  onState: (state: StreamState) => void;
  /** The server cannot resume from where this page was. */
  onResync: () => void;
  onSignedOut: () => void;
}

/** The server sends at least a comment each 15 s; a connection that is silent for longer than this is dead. */
const SILENCE_MS = 40_000;
const RETRY_MS = [300, 1_000, 2_000, 4_000, 8_000, 15_000];
/** Tries in a row without an answer after which the page says that it is offline. */
const OFFLINE_AFTER = 4;

/** One connection to the stream of events, made again after each break from where it was. */
export class EventConnection {
  readonly #hooks: ConnectionHooks;
  #state: StreamState = 'idle';
  #source: EventSourceClient | null = null;
  #position: number | null = null;
  #failures = 0;
  #timer: number | undefined;
  #silence: number | undefined;

  constructor(hooks: ConnectionHooks) {
    this.#hooks = hooks;
    window.addEventListener('online', () => this.reconnect());
    window.addEventListener('offline', () => this.#lose());
    document.addEventListener('visibilitychange', () => {
      if (document.visibilityState === 'visible') this.reconnect();
    });
  }

  /** Follows from this position on. */
  start(position: number): void {
    this.#close();
    this.#position = position;
    this.#failures = 0;
    this.#setState('connecting');
    this.#open();
  }

  stop(): void {
    this.#close();
    this.#position = null;
    this.#state = 'idle';
  }

  /** Tries now, instead of when it would be time. */
  reconnect(): void {
    if (this.#state === 'live' || this.#position === null) return;
    this.#close();
    this.#open();
  }

  #open(): void {
    if (this.#position === null) return;
    this.#source = createEventSource({
      url: '/api/events',
      credentials: 'same-origin',
      initialLastEventId: String(this.#position),
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
      this.#hooks.onSignedOut();
    }
    if (!response.ok) throw new Error(`the stream answered ${response.status}`);
    noteServerDate(response.headers.get('date'));
    this.#failures = 0;
    this.#setState('live');
    this.#watchSilence();
    return response;
  };

  #receive(message: { id?: string | undefined; event?: string | undefined; data: string }): void {
    this.#watchSilence();
    if (message.event === 'resync') {
      this.stop();
      return this.#hooks.onResync();
    }
    const position = Number(message.id);
    if (message.id === undefined || !Number.isSafeInteger(position)) return;
    this.#position = position;
    this.#hooks.onEvent(readEvent(message.data), position);
  }

  #watchSilence(): void {
    window.clearTimeout(this.#silence);
    this.#silence = window.setTimeout(() => this.#lose(), SILENCE_MS);
  }

  /** The connection is gone: tries again, sooner at first. */
  #lose(): void {
    if (this.#position === null) return;
    this.#close();
    this.#failures += 1;
    const isOffline = !navigator.onLine || this.#failures > OFFLINE_AFTER;
    this.#setState(isOffline ? 'offline' : 'reconnecting');
    const delay = RETRY_MS[Math.min(this.#failures - 1, RETRY_MS.length - 1)] ?? 0;
    this.#timer = window.setTimeout(() => this.#open(), delay * (0.75 + Math.random() / 2));
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
    this.#hooks.onState(state);
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
