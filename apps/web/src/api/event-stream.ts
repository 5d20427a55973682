import type { EventEnvelope } from '@vitto/contracts';
import { EventConnection, type StreamState } from './event-connection.ts';
import { RecentEvents } from './recent-events.ts';
import { TabLead } from './tab-lead.ts';

export type { StreamState } from './event-connection.ts';

export interface StreamListener {
  onEvents: (events: readonly EventEnvelope[]) => void;
  /** The server cannot resume from where this page was: what is shown must be loaded again. */
  onResync: () => void;
}

/** What tabs tell each other. All that the leading tab says comes in the order in which it said it. */
type TabMessage =
  | { kind: 'leads' }
  | { kind: 'event'; event: EventEnvelope }
  | { kind: 'state'; state: StreamState }
  | { kind: 'resync' }
  | { kind: 'signed-out' }
  /** A tab asks for what came after a position; the answer is for it alone. `null`: load your history again. */
  | { kind: 'ask'; from: string; after: number }
  | { kind: 'answer'; to: string; events: EventEnvelope[] | null; state: StreamState };

/** A tab that does not lead asks this often whether it has everything, and takes over without an answer. */
const ASK_MS = 20_000;
const ANSWER_MS = 4_000;

/**
 * The stream of a page: everything of this person, from a journal position on, resumed after each break by the position
 * of the last event. It begins when somebody has loaded a history and says up to which position.
 *
 * A browser opens six connections to a server at most, so its tabs share one: the tab that leads is connected and tells
 * the others. Each tab knows its own position, so whoever leads next goes on from there without a gap or a repeat. Where
 * tabs cannot talk (no secure context) each has its own.
 */
export class EventStream {
  readonly #onSignedOut: () => void;
  readonly #listeners = new Set<StreamListener>();
  readonly #stateListeners = new Set<() => void>();
  readonly #connection: EventConnection;
  readonly #lead: TabLead | null;
  readonly #channel: BroadcastChannel | null;
  readonly #tab: string = Math.random().toString(36);
  #state: StreamState = 'idle';
  #position: number | null = null;
  #recent = new RecentEvents(0);
  /** It follows another tab and has had an answer from it: what comes now is the next. */
  #isUpToDate = false;
  #asking: number | undefined;
  #answer: number | undefined;

  constructor(onSignedOut: () => void) {
    this.#onSignedOut = onSignedOut;
    this.#connection = new EventConnection({
      onEvent: (event, position) => this.#take(event, position),
      onState: (state) => this.#setState(state),
      onResync: () => this.#resync(),
      onSignedOut: () => {
        this.#tell({ kind: 'signed-out' });
        onSignedOut();
      },
    });
    const mayShare = 'locks' in navigator && 'BroadcastChannel' in window;
    this.#channel = mayShare ? new BroadcastChannel('vitto.stream') : null;
    this.#channel?.addEventListener('message', ({ data }) => this.#hear(data as TabMessage));
    const locks = mayShare ? navigator.locks : null;
    this.#lead =
      locks === null
        ? null
        : new TabLead(
            locks,
            () => this.#beginToLead(),
            () => this.#beginToFollow(),
          );
    document.addEventListener('visibilitychange', () => {
      if (document.visibilityState === 'visible') this.#ask();
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
    if (this.#position !== null) return;
    this.#position = position;
    this.#recent = new RecentEvents(position);
    this.#setState('connecting');
    if (this.#lead === null || this.#lead.isLeading) return this.#connection.start(position);
    this.#lead.queue();
    this.#ask();
  }

  /** After signing in again: goes on where it was. */
  resume(): void {
    if (this.#position === null) return;
    if (this.#isFollowing()) this.#ask();
    else if (this.#state === 'idle') this.#connection.start(this.#position);
    else this.#connection.reconnect();
  }

  #isFollowing(): boolean {
    return this.#lead !== null && !this.#lead.isLeading;
  }

  #beginToLead(): void {
    window.clearTimeout(this.#asking);
    window.clearTimeout(this.#answer);
    if (this.#position !== null) this.#connection.start(this.#position);
    this.#tell({ kind: 'leads' });
  }

  /** Another tab took over, because this one had been asleep. */
  #beginToFollow(): void {
    this.#connection.stop();
    this.#lead?.queue();
    this.#ask();
  }

  /** Asks the leading tab for what this one lacks; takes over when there is no answer. */
  #ask(): void {
    if (this.#position === null || !this.#isFollowing()) return;
    window.clearTimeout(this.#asking);
    window.clearTimeout(this.#answer);
    this.#isUpToDate = false;
    this.#tell({ kind: 'ask', from: this.#tab, after: this.#position });
    this.#answer = window.setTimeout(() => this.#lead?.overtake(), ANSWER_MS);
  }

  #tell(message: TabMessage): void {
    this.#channel?.postMessage(message);
  }

  #hear(message: TabMessage): void {
    if (message.kind === 'ask') return this.#answerTab(message.from, message.after);
    if (!this.#isFollowing() || this.#position === null) return;
    switch (message.kind) {
      case 'leads':
        return this.#ask();
      case 'event':
        return this.#isUpToDate ? this.#take(message.event, message.event.position) : undefined;
      case 'state':
        return this.#setState(message.state);
      case 'resync':
        return this.#resync();
      case 'signed-out':
        this.#setState('idle');
        return this.#onSignedOut();
      case 'answer':
        return message.to === this.#tab ? this.#takeAnswer(message) : undefined;
    }
  }

  #answerTab(tab: string, after: number): void {
    if (this.#lead?.isLeading !== true) return;
    // Whoever leads without having loaded anything goes on from where the other is.
    if (this.#position === null) this.ensureStarted(after);
    else if (this.#state === 'idle') this.resume();
    this.#tell({ kind: 'answer', to: tab, events: this.#recent.after(after), state: this.#state });
  }

  #takeAnswer({ events, state }: Extract<TabMessage, { kind: 'answer' }>): void {
    window.clearTimeout(this.#answer);
    if (events === null) return this.#resync();
    this.#isUpToDate = true;
    this.#setState(state);
    for (const event of events) this.#take(event, event.position);
    this.#asking = window.setTimeout(() => this.#ask(), ASK_MS);
  }

  /** The next event: what is known already is left out. */
  #take(event: EventEnvelope | null, position: number): void {
    if (this.#position === null || position <= this.#position) return;
    this.#position = position;
    if (event === null) return;
    this.#recent.add(event);
    if (!this.#isFollowing()) this.#tell({ kind: 'event', event });
    for (const listener of this.#listeners) listener.onEvents([event]);
  }

  /** What is shown is loaded again; whoever loads it says from where the stream goes on. */
  #resync(): void {
    if (!this.#isFollowing()) this.#tell({ kind: 'resync' });
    window.clearTimeout(this.#asking);
    window.clearTimeout(this.#answer);
    this.#position = null;
    this.#isUpToDate = false;
    this.#setState('reconnecting');
    for (const listener of this.#listeners) listener.onResync();
  }

  #setState(state: StreamState): void {
    if (state === this.#state) return;
    this.#state = state;
    if (!this.#isFollowing()) this.#tell({ kind: 'state', state });
    for (const listener of this.#stateListeners) listener();
  }
}
