import { page, task as taskSchema, type EventEnvelope, type Task } from '@vitto/contracts';
import { toApiError, type ApiError } from '../../api/api-error.ts';
import type { ApiClient } from '../../api/client.ts';
import type { EventStream } from '../../api/event-stream.ts';
import { applyToLive, dismiss, NOTHING_LIVE, type LiveView } from './model/live-view.ts';

export interface LiveState {
  status: 'loading' | 'ready' | 'error';
  error: ApiError | null;
  view: LiveView;
}

const taskPage = page(taskSchema);
const LIMIT = 200;
const MOST_PAGES = 10;
/** However many events come, the page is drawn once in this many milliseconds. */
const DRAW_MS = 100;
/** Events that are kept while the tasks are on their way; of more than that what was only written is left out. */
const MOST_WAITING = 20_000;
const WRITTEN = new Set(['agent.text', 'agent.reasoning', 'tool.progress']);

/** Who is at work, loaded once and then kept true by the stream, with what each of them writes. */
export class LiveStore {
  readonly #client: ApiClient;
  readonly #stream: EventStream;
  readonly #listeners = new Set<() => void>();
  #state: LiveState = { status: 'loading', error: null, view: NOTHING_LIVE };
  #waiting: EventEnvelope[] = [];
  #timer: number | undefined;
  #abort = new AbortController();

  constructor(client: ApiClient, stream: EventStream) {
    this.#client = client;
    this.#stream = stream;
  }

  readonly getState = (): LiveState => this.#state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

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

  readonly load = async (): Promise<void> => {
    const { signal } = this.#abort;
    if (this.#state.status === 'error') this.#set({ ...this.#state, status: 'loading', error: null });
    try {
      const tasks = await this.#readActive(signal);
      const live = { tasks: new Map(tasks.map((task) => [task.id, task])), calls: new Map() };
      this.#set({ status: 'ready', error: null, view: { live, tails: new Map() } });
      this.#flush();
    } catch (error) {
      if (signal.aborted) return;
      this.#waiting = [];
      this.#set({ ...this.#state, status: 'error', error: toApiError(error) });
    }
  };

  /** Takes ended tasks out of sight. */
  readonly dismiss = (ids: Iterable<string>): void => {
    this.#set({ ...this.#state, view: dismiss(this.#state.view, new Set(ids)) });
  };

  async #readActive(signal: AbortSignal): Promise<Task[]> {
    const tasks: Task[] = [];
    let cursor: string | null = null;
    for (let pages = 0; pages < MOST_PAGES; pages += 1) {
      const query = new URLSearchParams({
        state: 'active',
        limit: String(LIMIT),
        ...(cursor === null ? {} : { cursor }),
      });
      const found: { items: Task[]; nextCursor: string | null } = await this.#client.send({
        path: `/tasks?${query}`,
        schema: taskPage,
        signal,
      });
      tasks.push(...found.items);
      cursor = found.nextCursor;
      if (cursor === null) break;
    }
    return tasks;
  }

  #receive(events: readonly EventEnvelope[]): void {
    if (this.#state.status === 'error') return;
    for (const event of events) this.#waiting.push(event);
    if (this.#waiting.length > MOST_WAITING)
      this.#waiting = this.#waiting.filter((event) => !WRITTEN.has(event.type));
    if (this.#timer !== undefined || this.#state.status !== 'ready') return;
    this.#timer = window.setTimeout(() => {
      this.#timer = undefined;
      this.#flush();
    }, DRAW_MS);
  }

  #flush(): void {
    if (this.#waiting.length === 0) return;
    const view = applyToLive(this.#state.view, this.#waiting);
    this.#waiting = [];
    this.#set({ ...this.#state, view });
  }

  #set(state: LiveState): void {
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }
}
