import { page, task as taskSchema, type Task } from '@vitto/contracts';
import { toApiError, type ApiError } from '../../api/api-error.ts';
import type { ApiClient } from '../../api/client.ts';
import type { EventStream } from '../../api/event-stream.ts';
import { FollowedState } from '../../api/followed-state.ts';
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

/** Who is at work, loaded once and then kept true by the stream, with what each of them writes. */
export class LiveStore {
  readonly #client: ApiClient;
  readonly #followed: FollowedState<LiveState>;

  constructor(client: ApiClient, stream: EventStream) {
    this.#client = client;
    this.#followed = new FollowedState<LiveState>(stream, {
      initial: { status: 'loading', error: null, view: NOTHING_LIVE },
      drawMs: DRAW_MS,
      mostWaiting: MOST_WAITING,
      statusOf: ({ status }) => status,
      isWanted: () => true,
      apply: (state, events) => ({ ...state, view: applyToLive(state.view, events) }),
      load: (signal) => this.#load(signal),
    });
  }

  readonly getState = (): LiveState => this.#followed.getState();
  readonly subscribe = (listener: () => void): (() => void) => this.#followed.subscribe(listener);
  readonly load = (): Promise<void> => this.#followed.load();
  open(): () => void {
    return this.#followed.open();
  }

  async #load(signal: AbortSignal): Promise<void> {
    const followed = this.#followed;
    const before = followed.getState();
    if (before.status === 'error') followed.set({ ...before, status: 'loading', error: null });
    try {
      const tasks = await this.#readActive(signal);
      const live = { tasks: new Map(tasks.map((task) => [task.id, task])), calls: new Map() };
      followed.set({ status: 'ready', error: null, view: { live, tails: new Map() } });
      followed.flush();
    } catch (error) {
      if (signal.aborted) return;
      followed.set({ ...followed.getState(), status: 'error', error: toApiError(error) });
    }
  }

  /** Takes ended tasks out of sight. */
  readonly dismiss = (ids: Iterable<string>): void => {
    const state = this.#followed.getState();
    this.#followed.set({ ...state, view: dismiss(state.view, new Set(ids)) });
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
}
