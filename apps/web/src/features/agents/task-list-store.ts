import { page, task as taskSchema, type Task } from '@vitto/contracts';
import { toApiError, type ApiError } from '../../api/api-error.ts';
import type { ApiClient } from '../../api/client.ts';
import type { EventStream } from '../../api/event-stream.ts';
import { FollowedState, isWritten } from '../../api/followed-state.ts';
import { applyToTasks, NO_TASKS, type LiveTasks } from './model/live-tasks.ts';
import { hasFamily, readFamily } from './read-family.ts';

export interface TaskListState {
  status: 'loading' | 'ready' | 'error';
  error: ApiError | null;
  live: LiveTasks;
  /** Older tasks: there are more, they are on their way, or this is all. */
  older: 'some' | 'loading' | 'none' | 'error';
}

const taskPage = page(taskSchema);
/** Tasks of the first page: more than a screen holds, few enough to be there at once. */
const FIRST = 25;
const LIMIT = 200;
/** Active tasks are loaded whole up to this many pages. */
const ACTIVE_PAGES = 10;
/** However many events come, the list changes once in this many milliseconds. */
const DRAW_MS = 50;

/**
 * The tasks of the list: all that are active and the newest of all, loaded once and then kept true by the stream. Many
 * events at once draw once.
 */
export class TaskListStore {
  readonly #client: ApiClient;
  readonly #followed: FollowedState<TaskListState>;
  #cursor: string | null = null;
  /** Roots whose agents are wanted whole, those that have ended too. */
  readonly #families = new Set<string>();

  constructor(client: ApiClient, stream: EventStream) {
    this.#client = client;
    this.#followed = new FollowedState<TaskListState>(stream, {
      initial: { status: 'loading', error: null, live: NO_TASKS, older: 'none' },
      drawMs: DRAW_MS,
      statusOf: ({ status }) => status,
      isWanted: (event) => !isWritten(event.type),
      apply: (state, events) => ({ ...state, live: applyToTasks(state.live, events) }),
      load: (signal) => this.#load(signal),
    });
  }

  readonly getState = (): TaskListState => this.#followed.getState();
  readonly subscribe = (listener: () => void): (() => void) => this.#followed.subscribe(listener);
  readonly load = (): Promise<void> => this.#followed.load();
  open(): () => void {
    return this.#followed.open();
  }

  /** Shows the first page of each list as soon as it is there; the rest of what is active, and a page more, follow. */
  async #load(signal: AbortSignal): Promise<void> {
    // From now on events are kept for it.
    if (this.#followed.getState().status === 'error') this.#change({ status: 'loading', error: null });
    try {
      const [active, recent] = await Promise.all([
        this.#readPage('active', null, signal, FIRST),
        this.#readPage('', null, signal, FIRST),
      ]);
      this.#cursor = recent.nextCursor;
      const tasks = new Map([...recent.items, ...active.items].map((task) => [task.id, task]));
      this.#change({ status: 'ready', error: null, live: { tasks, calls: new Map() }, older: this.#older() });
      this.#followed.flush();
      await Promise.all([this.#loadRest(active.nextCursor, signal), this.loadOlder()]);
      await this.#loadFamilies(signal);
    } catch (error) {
      if (!signal.aborted) this.#change({ status: 'error', error: toApiError(error) });
    }
  }

  async #loadRest(from: string | null, signal: AbortSignal): Promise<void> {
    let cursor = from;
    for (let pages = 0; pages < ACTIVE_PAGES && cursor !== null; pages += 1) {
      const page = await this.#readPage('active', cursor, signal);
      this.#addOlder(page.items);
      cursor = page.nextCursor;
    }
  }

  /** Loads what is below a task that somebody opened, once. */
  readonly openFamily = async (rootId: string): Promise<void> => {
    if (this.#families.has(rootId)) return;
    this.#families.add(rootId);
    const { signal } = this.#followed;
    try {
      this.#addOlder(await readFamily(this.#client, rootId, signal));
    } catch (error) {
      if (!signal.aborted) this.#change({ status: 'error', error: toApiError(error) });
    }
  };

  /** Agents that ended before the page was opened stay under what is at work. */
  async #loadFamilies(signal: AbortSignal): Promise<void> {
    for (const task of this.#followed.getState().live.tasks.values())
      if (task.endedAt === null && hasFamily(task)) this.#families.add(task.rootId);
    for (const rootId of this.#families) this.#addOlder(await readFamily(this.#client, rootId, signal));
  }

  readonly loadOlder = async (): Promise<void> => {
    if (this.#cursor === null || this.#followed.getState().older === 'loading') return;
    const { signal } = this.#followed;
    this.#change({ older: 'loading' });
    try {
      const older = await this.#readPage('', this.#cursor, signal);
      this.#cursor = older.nextCursor;
      this.#addOlder(older.items);
      this.#change({ older: this.#older() });
    } catch {
      if (!signal.aborted) this.#change({ older: 'error' });
    }
  };

  /** What is here already has had events since. */
  #addOlder(older: readonly Task[]): void {
    const { live } = this.#followed.getState();
    const tasks = new Map([...older.map((task) => [task.id, task] as const), ...live.tasks]);
    this.#change({ live: { ...live, tasks } });
  }

  #readPage(
    state: 'active' | '',
    cursor: string | null,
    signal: AbortSignal,
    limit = LIMIT,
  ): Promise<{ items: Task[]; nextCursor: string | null }> {
    const query = new URLSearchParams({
      limit: String(limit),
      ...(state === '' ? {} : { state }),
      ...(cursor === null ? {} : { cursor }),
    });
    return this.#client.send({ path: `/tasks?${query}`, schema: taskPage, signal });
  }

  #older(): 'some' | 'none' {
    return this.#cursor === null ? 'none' : 'some';
  }

  #change(part: Partial<TaskListState>): void {
    this.#followed.set({ ...this.#followed.getState(), ...part });
  }
}
