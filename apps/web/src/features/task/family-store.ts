import type { EventEnvelope, Task } from '@vitto/contracts';
import { toApiError, type ApiError } from '../../api/api-error.ts';
import type { ApiClient } from '../../api/client.ts';
import type { EventStream } from '../../api/event-stream.ts';
import { FollowedState, isWritten } from '../../api/followed-state.ts';
import { applyToTasks, NO_TASKS } from '../agents/model/live-tasks.ts';
import { readFamily } from '../agents/read-family.ts';

export interface FamilyState {
  status: 'loading' | 'ready' | 'error';
  error: ApiError | null;
  /** The root and all below it. */
  tasks: ReadonlyMap<string, Task>;
}

const DRAW_MS = 100;

/** A root task with all below it, loaded once and then kept true by the stream. */
export class FamilyStore {
  readonly #rootId: string;
  readonly #client: ApiClient;
  readonly #followed: FollowedState<FamilyState>;

  constructor(rootId: string, client: ApiClient, stream: EventStream) {
    this.#rootId = rootId;
    this.#client = client;
    this.#followed = new FollowedState<FamilyState>(stream, {
      initial: { status: 'loading', error: null, tasks: new Map() },
      drawMs: DRAW_MS,
      statusOf: ({ status }) => status,
      isWanted: (event, state) => this.#mayConcern(event, state),
      apply: (state, events) => ({
        ...state,
        tasks: applyToTasks({ ...NO_TASKS, tasks: state.tasks }, events).tasks,
      }),
      load: (signal) => this.#load(signal),
    });
  }

  readonly getState = (): FamilyState => this.#followed.getState();
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
      const tasks = await readFamily(this.#client, this.#rootId, signal);
      followed.set({ status: 'ready', error: null, tasks: new Map(tasks.map((task) => [task.id, task])) });
      followed.flush();
    } catch (error) {
      if (signal.aborted) return;
      followed.set({ ...followed.getState(), status: 'error', error: toApiError(error) });
    }
  }

  /** Events of this family; while it is on its way nobody knows whose they are. */
  #mayConcern(event: EventEnvelope, { status, tasks }: FamilyState): boolean {
    if (isWritten(event.type)) return false;
    if (event.type === 'task.created') return event.payload['rootTaskId'] === this.#rootId;
    // One that was deployed a moment ago may still wait to be drawn.
    const { taskId } = event;
    return (
      status !== 'ready' || tasks.has(taskId) || this.#followed.waiting.some((one) => one.taskId === taskId)
    );
  }
}
