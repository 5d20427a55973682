import type { EventEnvelope } from '@vitto/contracts';
import type { EventStream } from './event-stream.ts';

/** Deltas of what is being written: most pages do not show them. */
export function isWritten(type: string): boolean {
  return type === 'agent.text' || type === 'agent.reasoning' || type === 'tool.progress';
}

export interface FollowOptions<State> {
  initial: State;
  /** However many events come, the state changes once in this many milliseconds. */
  drawMs: number;
  /** Events that are wanted: the others are dropped at once. */
  isWanted: (event: EventEnvelope, state: State) => boolean;
  /** The state with these events; called while it is loaded. */
  apply: (state: State, events: readonly EventEnvelope[]) => State;
  /** Loads the state anew; it says itself when it is ready, and what went wrong. */
  load: (signal: AbortSignal) => Promise<void>;
  /** `loading`: events wait for it; `error`: nobody shows them. */
  statusOf: (state: State) => 'loading' | 'ready' | 'error';
  /** Events that wait while it loads, at most; of more than that what was only written is left out. */
  mostWaiting?: number;
}

/** A state that is loaded once and then kept true by the event stream, for `useSyncExternalStore`. */
export class FollowedState<State> {
  readonly #stream: EventStream;
  readonly #options: FollowOptions<State>;
  readonly #listeners = new Set<() => void>();
  #state: State;
  #waiting: EventEnvelope[] = [];
  #timer: number | undefined;
  #abort = new AbortController();

  constructor(stream: EventStream, options: FollowOptions<State>) {
    this.#stream = stream;
    this.#options = options;
    this.#state = options.initial;
  }

  readonly getState = (): State => this.#state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Aborts when nobody follows any more. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Events that came and are not in the state yet. */
  get waiting(): readonly EventEnvelope[] {
    return this.#waiting;
  }

  /** Loads and follows until the function that it gives is called. */
  open(): () => void {
    this.#abort = new AbortController();
    const unsubscribe = this.#stream.subscribe({
      onEvents: (events) => this.#receive(events),
      onResync: () => void this.load(),
    });
    void this.load();
    return () => {
      unsubscribe();
      window.clearTimeout(this.#timer);
      this.#timer = undefined;
      this.#abort.abort();
    };
  }

  readonly load = (): Promise<void> => this.#options.load(this.#abort.signal);

  set(state: State): void {
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }

  /** Puts in what came while it was loaded. */
  flush(): void {
    if (this.#waiting.length === 0) return;
    const events = this.#waiting;
    this.#waiting = [];
    this.set(this.#options.apply(this.#state, events));
  }

  #receive(events: readonly EventEnvelope[]): void {
    const { isWanted, statusOf, drawMs, mostWaiting = Number.POSITIVE_INFINITY } = this.#options;
    const status = statusOf(this.#state);
    if (status === 'error') {
      // Loading anew begins with all of it.
      this.#waiting = [];
      return;
    }
    for (const event of events) if (isWanted(event, this.#state)) this.#waiting.push(event);
    if (this.#waiting.length > mostWaiting)
      this.#waiting = this.#waiting.filter((event) => !isWritten(event.type));
    if (this.#timer !== undefined || this.#waiting.length === 0 || status !== 'ready') return;
    this.#timer = window.setTimeout(() => {
      this.#timer = undefined;
      this.flush();
    }, drawMs);
  }
}
