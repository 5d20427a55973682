import { taskStepPage, type EventEnvelope, type TaskStepPage } from '@vitto/contracts';
import { toApiError, type ApiError } from '../../api/api-error.ts';
import type { ApiClient } from '../../api/client.ts';
import type { EventStream } from '../../api/event-stream.ts';
import { foldSteps } from './model/fold-steps.ts';
import { NO_STEPS, type StepList } from './model/step.ts';

export type Edge = 'some' | 'loading' | 'none' | 'error';

export interface StepState {
  status: 'loading' | 'ready' | 'error';
  error: ApiError | null;
  list: StepList;
  /** What there is of the journal before and after the part that is here. */
  before: Edge;
  after: Edge;
  /** How often the part was begun anew: then nothing of what was in sight is to be kept there. */
  generation: number;
}

const LIMIT = 200;
const DRAW_MS = 50;
const DELTAS = new Set(['agent.text', 'agent.reasoning', 'tool.progress']);

/** A part of a task's journal without a gap, which grows at both ends, and at its end by the stream. */
export class StepStore {
  readonly #taskId: string;
  readonly #client: ApiClient;
  readonly #stream: EventStream;
  readonly #listeners = new Set<() => void>();
  #state: StepState = {
    status: 'loading',
    error: null,
    list: NO_STEPS,
    before: 'none',
    after: 'none',
    generation: 0,
  };
  #events: EventEnvelope[] = [];
  #streamed: EventEnvelope[] = [];
  /** While the end of the journal is on its way, what streams waits for it. */
  #isHeld = false;
  #timer: number | undefined;
  #abort = new AbortController();

  constructor(taskId: string, client: ApiClient, stream: EventStream) {
    this.#taskId = taskId;
    this.#client = client;
    this.#stream = stream;
  }

  readonly getState = (): StepState => this.#state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Loads the beginning of the journal and follows until the function that it gives is called. */
  open(): () => void {
    this.#abort = new AbortController();
    const unsubscribe = this.#stream.subscribe({
      onEvents: (events) => this.#receive(events),
      onResync: () => void this.jump('last'),
    });
    void this.jump('first');
    return () => {
      unsubscribe();
      window.clearTimeout(this.#timer);
      this.#timer = undefined;
      this.#abort.abort();
    };
  }

  /** Begins anew at one end of the journal. */
  readonly jump = async (end: 'first' | 'last'): Promise<void> => {
    this.#hold();
    try {
      const page = await this.#read(end === 'first' ? 'asc' : 'desc', null);
      const rest: Edge = page.nextCursor === null ? 'none' : 'some';
      this.#events = end === 'first' ? page.items : page.items.reverse();
      this.#set({
        status: 'ready',
        error: null,
        list: foldSteps(NO_STEPS, this.#events),
        before: end === 'first' ? 'none' : rest,
        after: end === 'first' ? rest : 'none',
        generation: this.#state.generation + 1,
      });
      this.#release();
    } catch (error) {
      if (!this.#abort.signal.aborted)
        this.#set({ ...this.#state, status: 'error', error: toApiError(error) });
    }
  };

  readonly loadBefore = async (): Promise<void> => {
    const first = this.#events[0];
    if (first === undefined || this.#state.before === 'loading' || this.#state.before === 'none') return;
    this.#set({ ...this.#state, before: 'loading' });
    try {
      const page = await this.#read('desc', first.seq);
      this.#events = [...page.items.reverse(), ...this.#events];
      const list = foldSteps(NO_STEPS, this.#events);
      this.#set({ ...this.#state, list, before: page.nextCursor === null ? 'none' : 'some' });
    } catch {
      if (!this.#abort.signal.aborted) this.#set({ ...this.#state, before: 'error' });
    }
  };

  readonly loadAfter = async (): Promise<void> => {
    const last = this.#events.at(-1);
    if (last === undefined || this.#state.after === 'loading' || this.#state.after === 'none') return;
    this.#set({ ...this.#state, after: 'loading' });
    this.#hold();
    try {
      const page = await this.#read('asc', last.seq);
      this.#append(page.items, page.nextCursor === null ? 'none' : 'some');
      this.#release();
    } catch {
      if (!this.#abort.signal.aborted) this.#set({ ...this.#state, after: 'error' });
    }
  };

  #read(order: 'asc' | 'desc', cursor: number | null): Promise<TaskStepPage> {
    const query = new URLSearchParams({
      order,
      limit: String(LIMIT),
      ...(cursor === null ? {} : { cursor: String(cursor) }),
    });
    return this.#client.send({
      path: `/tasks/${encodeURIComponent(this.#taskId)}/steps?${query}`,
      schema: taskStepPage,
      signal: this.#abort.signal,
    });
  }

  #receive(events: readonly EventEnvelope[]): void {
    const mine = events.filter((event) => event.taskId === this.#taskId && !DELTAS.has(event.type));
    if (mine.length === 0) return;
    this.#streamed.push(...mine);
    this.#timer ??= window.setTimeout(() => {
      this.#timer = undefined;
      this.#flush();
    }, DRAW_MS);
  }

  /** What streamed before a request is in its answer; what streams from now on may not be. */
  #hold(): void {
    this.#streamed = [];
    this.#isHeld = true;
  }

  #release(): void {
    this.#isHeld = false;
    this.#flush();
  }

  /** Takes in what streamed, when the end of the journal is here. */
  #flush(): void {
    if (this.#isHeld) return;
    const streamed = this.#streamed;
    this.#streamed = [];
    if (this.#state.after === 'none') this.#append(streamed, 'none');
  }

  #append(events: readonly EventEnvelope[], after: Edge): void {
    const last = this.#events.at(-1)?.seq ?? 0;
    const fresh = events.filter((event) => event.seq > last);
    if (fresh.length === 0 && after === this.#state.after) return;
    this.#events = [...this.#events, ...fresh];
    this.#set({ ...this.#state, list: foldSteps(this.#state.list, fresh), after });
  }

  #set(state: StepState): void {
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }
}
