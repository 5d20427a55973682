import type { EventEnvelope, Task } from '@vitto/contracts';
import { toApiError, type ApiError } from '../../api/api-error.ts';
import type { ApiClient } from '../../api/client.ts';
import type { EventStream } from '../../api/event-stream.ts';
import { applyToTasks, NO_TASKS } from '../agents/model/live-tasks.ts';
import { readFamily } from '../agents/read-family.ts';

export interface FamilyState {
  status: 'loading' | 'ready' | 'error';
  error: ApiError | null;
  /** The root and all below it. */
  tasks: ReadonlyMap<string, Task>;
}

/** However many events come, the chart changes once in this many milliseconds. */
const DRAW_MS = 100;
const WRITTEN = new Set(['agent.text', 'agent.reasoning', 'tool.progress']);

/** A root task with all below it, loaded once and then kept true by the stream. */
export class FamilyStore {
  readonly #rootId: string;
  readonly #client: ApiClient;
  readonly #stream: EventStream;
  readonly #listeners = new Set<() => void>();
  #state: FamilyState = { status: 'loading', error: null, tasks: new Map() };
  #waiting: EventEnvelope[] = [];
  #timer: number | undefined;
  #abort = new AbortController();

  constructor(rootId: string, client: ApiClient, stream: EventStream) {
    this.#rootId = rootId;
    this.#client = client;
    this.#stream = stream;
  }

  readonly getState = (): FamilyState => this.#state;

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
      const tasks = await readFamily(this.#client, this.#rootId, signal);
      this.#set({ status: 'ready', error: null, tasks: new Map(tasks.map((task) => [task.id, task])) });
      this.#flush();
    } catch (error) {
      if (signal.aborted) return;
      this.#waiting = [];
      this.#set({ ...this.#state, status: 'error', error: toApiError(error) });
    }
  };

  #receive(events: readonly EventEnvelope[]): void {
    if (this.#state.status === 'error') return;
    for (const event of events) if (this.#mayConcern(event)) this.#waiting.push(event);
    if (this.#timer !== undefined || this.#waiting.length === 0 || this.#state.status !== 'ready') return;
    this.#timer = window.setTimeout(() => {
      this.#timer = undefined;
      this.#flush();
    }, DRAW_MS);
  }

  /** Events of this family; while it is on its way nobody knows whose they are. */
  #mayConcern(event: EventEnvelope): boolean {
    if (WRITTEN.has(event.type)) return false;
    if (event.type === 'task.created') return event.payload['rootTaskId'] === this.#rootId;
    return this.#state.status !== 'ready' || this.#isOurs(event.taskId);
  }

  /** One that was deployed a moment ago may still wait to be drawn. */
  #isOurs(taskId: string): boolean {
    return this.#state.tasks.has(taskId) || this.#waiting.some((event) => event.taskId === taskId);
  }

  #flush(): void {
    if (this.#waiting.length === 0) return;
    const { tasks } = applyToTasks({ ...NO_TASKS, tasks: this.#state.tasks }, this.#waiting);
    this.#waiting = [];
    this.#set({ ...this.#state, tasks });
  }

  #set(state: FamilyState): void {
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }
}
