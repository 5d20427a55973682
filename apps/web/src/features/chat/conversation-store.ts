import type { EventEnvelope } from '@vitto/contracts';
import { toApiError, type ApiError } from '../../api/api-error.ts';
import type { EventStream } from '../../api/event-stream.ts';
import type { VittoApi } from '../../api/vitto-api.ts';
import { isShownOfSubTasks } from './model/apply-event.ts';
import { EMPTY_LOG, foldConversation, type ConversationLog } from './model/fold-conversation.ts';
import type { ConversationView } from './model/view.ts';

export interface ConversationState {
  readonly status: 'loading' | 'ready' | 'error';
  readonly error: ApiError | null;
  readonly view: ConversationView;
  /** There is an older page; `loading` while it comes. */
  readonly older: 'none' | 'some' | 'loading' | 'error';
}

/**
 * One open conversation: its history by pages and then the stream. The stream is listened to from before the history
 * is asked for, so nothing falls between the two; what comes twice changes nothing. Readers are told at most once a
 * frame.
 */
export class ConversationStore {
  readonly #id: string;
  readonly #api: VittoApi;
  readonly #stream: EventStream;
  readonly #listeners = new Set<() => void>();
  #log: ConversationLog = EMPTY_LOG;
  #waiting: EventEnvelope[] = [];
  #nextBefore: number | null = null;
  #state: ConversationState = { status: 'loading', error: null, view: EMPTY_LOG.view, older: 'none' };
  #isScheduled = false;
  #abort = new AbortController();
  #unsubscribe: (() => void) | null = null;

  constructor(id: string, api: VittoApi, stream: EventStream) {
    this.#id = id;
    this.#api = api;
    this.#stream = stream;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
  readonly getState = (): ConversationState => this.#state;

  open(): () => void {
    this.#abort = new AbortController();
    this.#unsubscribe = this.#stream.subscribe({
      onEvents: (events) => this.#receive(events),
      onResync: () => void this.load(),
    });
    void this.load();
    return () => this.#close();
  }

  #close(): void {
    this.#unsubscribe?.();
    this.#unsubscribe = null;
    this.#abort.abort();
  }

  /** Loads the newest page anew; what is shown stays until it is there. */
  async load(): Promise<void> {
    const { signal } = this.#abort;
    try {
      const page = await this.#api.readHistory(this.#id, null, signal);
      if (signal.aborted) return;
      this.#log = foldConversation(EMPTY_LOG, page.items);
      this.#nextBefore = page.nextBefore;
      this.#setState({ status: 'ready', error: null, view: this.#log.view, older: this.#olderState() });
      this.#flush();
      this.#stream.ensureStarted(page.lastPosition);
    } catch (error) {
      if (signal.aborted) return;
      const isShown = this.#state.status === 'ready';
      this.#setState({ ...this.#state, status: isShown ? 'ready' : 'error', error: toApiError(error) });
      // The stream waits for a history to begin from.
      if (isShown) window.setTimeout(() => !signal.aborted && void this.load(), 3_000);
    }
  }

  /** After signing in again: loads what could not be loaded. */
  recover(): void {
    if (this.#state.error !== null) void this.load();
  }

  readonly loadOlder = (): Promise<void> => this.#loadBack(Number.MAX_SAFE_INTEGER);

  /** Loads back until a position of the journal is here. */
  readonly reach = (position: number): Promise<void> => this.#loadBack(position);

  /** Pages, one at least, until one begins at or before the position; they are folded together, at their end. */
  async #loadBack(position: number): Promise<void> {
    if (this.#nextBefore === null || this.#state.older === 'loading') return;
    const { signal } = this.#abort;
    this.#setState({ ...this.#state, older: 'loading' });
    const events: EventEnvelope[] = [];
    let next: number | null = this.#nextBefore;
    try {
      do {
        const page = await this.#api.readHistory(this.#id, next, signal);
        events.push(...page.items);
        next = page.nextBefore;
      } while (next !== null && next > position);
    } catch {
      if (!signal.aborted) this.#setState({ ...this.#state, older: 'error' });
      return;
    }
    if (signal.aborted) return;
    this.#log = foldConversation(this.#log, events);
    this.#nextBefore = next;
    this.#setState({ ...this.#state, view: this.#log.view, older: this.#olderState() });
  }

  #olderState(): 'none' | 'some' {
    return this.#nextBefore === null ? 'none' : 'some';
  }

  #receive(events: readonly EventEnvelope[]): void {
    this.#waiting.push(...events);
    if (this.#isScheduled || this.#state.status !== 'ready') return;
    this.#isScheduled = true;
    // A hidden page gets no frames.
    if (document.visibilityState === 'visible') requestAnimationFrame(() => this.#flush());
    else window.setTimeout(() => this.#flush(), 250);
  }

  #flush(): void {
    this.#isScheduled = false;
    if (this.#state.status !== 'ready') return;
    const events = this.#waiting;
    this.#waiting = [];
    const own = new Set<string>();
    const mine = events.filter((event) => this.#isMine(event, own));
    if (mine.length === 0) return;
    const log = foldConversation(this.#log, mine);
    if (log === this.#log) return;
    this.#log = log;
    this.#setState({ ...this.#state, view: log.view });
  }

  /** A task belongs here when it was seen here, or says so when it is made. */
  #isMine(event: EventEnvelope, own: Set<string>): boolean {
    const isKnown = (id: unknown) => typeof id === 'string' && (own.has(id) || this.#log.view.tasks.has(id));
    // Nothing is kept of what is not shown: a hundred sub-tasks write a lot.
    if ((this.#log.view.tasks.get(event.taskId)?.depth ?? 0) > 0 && !isShownOfSubTasks(event.type))
      return false;
    if (isKnown(event.taskId)) return true;
    if (event.type !== 'task.created') return false;
    const { conversationId, parentTaskId } = event.payload;
    if (conversationId !== this.#id && !isKnown(parentTaskId)) return false;
    own.add(event.taskId);
    return true;
  }

  #setState(state: ConversationState): void {
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }
}
