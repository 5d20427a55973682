import type { EventEnvelope } from '@vitto/contracts';
import { AppError } from '../../kernel/app-error.ts';
import { isDatabaseAway } from '../../kernel/database/database.ts';
import type { SignalBus } from '../../kernel/signal-bus.ts';
import { Follower } from './follower.ts';
import { UserTail } from './user-tail.ts';

/** Events of a task that are read at once by who comes later than they were written. */
const PAGE_ROWS = 200;
/** Between two looks at the table without a signal, in milliseconds: a net under lost signals. */
const POLL_MS = 2_000;
/** Most tasks that are followed at the same time in this process. */
const MAX_FOLLOWERS = 1_000;
const END_TYPES = new Set(['task.completed', 'task.failed', 'task.cancelled']);

export interface FollowRequest {
  /** The task is this user's: the caller has looked. */
  userId: string;
  taskId: string;
  /** Only events after this journal position. */
  after: number;
  /** Ends the following with the signal's reason. */
  signal: AbortSignal;
  /** The following ends with the token that asked for it. */
  credential: string;
}

export interface TaskFeedReads {
  readLastPosition: (userId: string) => Promise<number>;
  readUserEvents: (userId: string, after: number, limit: number) => Promise<EventEnvelope[]>;
  readTaskEvents: (userId: string, taskId: string, after: number, limit: number) => Promise<EventEnvelope[]>;
}

/**
 * Single tasks as they happen, for programs that wait for an answer. A user's journal has one reader however many of
 * their tasks are followed. Signals wake it; what it gives is what the journal holds, so a lost signal costs a moment
 * and never an event.
 */
export class TaskFeed {
  readonly #reads: TaskFeedReads;
  readonly #tails = new Map<string, UserTail>();
  readonly #unlisten: () => void;
  #timer: NodeJS.Timeout | null = null;
  #size = 0;
  #isClosed = false;

  constructor(options: { signals: Pick<SignalBus, 'listen'>; reads: TaskFeedReads }) {
    this.#reads = options.reads;
    this.#unlisten = options.signals.listen((signal) => {
      if (signal.kind === 'journal') void this.#tails.get(signal.userId)?.wake();
      else if (signal.kind === 'reconnected') this.#wakeAll();
    });
  }

  /** How many tasks are followed now. */
  get size(): number {
    return this.#size;
  }

  /** @throws AppError `stream.unavailable` (503) when this process follows no more tasks. */
  checkRoom(): void {
    if (this.#isClosed) throw stopping();
    if (this.#size < MAX_FOLLOWERS) return;
    throw new AppError('stream.unavailable', 'Too many tasks are being followed.', {
      status: 503,
      hint: 'Try again in a few seconds.',
    });
  }

  /**
   * The events of a task after a position, in batches as they come, up to and with its last one. While the database
   * is away it waits.
   * @throws AppError `stream.unavailable`, `server.stopping`, `sign-in.required` when the token was taken back; the
   *   signal's reason.
   */
  async *follow(request: FollowRequest): AsyncGenerator<EventEnvelope[], void> {
    this.checkRoom();
    const follower = new Follower(request);
    const tail = this.#join(request.userId, follower);
    const signal = AbortSignal.any([request.signal, follower.stop.signal]);
    try {
      await tail.open();
      for (let after = request.after; ;) {
        const events = await this.#next(follower, { ...request, after, signal });
        after = events.at(-1)?.position ?? after;
        yield events;
        if (events.some((event) => END_TYPES.has(event.type))) return;
      }
    } finally {
      this.#leave(request.userId, tail, follower);
    }
  }

  /** Ends what is followed with a token that is gone. */
  endCredential(credential: string): void {
    const gone = () =>
      new AppError('sign-in.required', 'The token of this request was taken back.', { status: 401 });
    for (const follower of this.#followers()) {
      if (follower.credential === credential) follower.stop.abort(gone());
    }
  }

  /** Ends all following, so that the server can close. The tasks go on. */
  close(): void {
    this.#isClosed = true;
    this.#unlisten();
    for (const follower of this.#followers()) follower.stop.abort(stopping());
  }

  /** Waits for the next events: from the table while the follower is behind, else as the tail gives them. */
  async #next(follower: Follower, request: FollowRequest): Promise<EventEnvelope[]> {
    for (;;) {
      request.signal.throwIfAborted();
      if (follower.isBehind) {
        const page = await this.#readPage(follower, request);
        if (page.length > 0) return page;
      }
      const events = follower.take(request.after);
      if (events.length > 0) return events;
      await follower.sleeper.sleep(request.signal);
    }
  }

  async #readPage(follower: Follower, request: FollowRequest): Promise<EventEnvelope[]> {
    // From here on what is written waits for it, so nothing falls between the page and the tail.
    follower.isBehind = false;
    try {
      const { userId, taskId, after } = request;
      const page = await this.#reads.readTaskEvents(userId, taskId, after, PAGE_ROWS);
      if (page.length === PAGE_ROWS) follower.fallBehind();
      return page;
    } catch (error) {
      if (!isDatabaseAway(error)) throw error;
      follower.fallBehind();
      return [];
    }
  }

  #join(userId: string, follower: Follower): UserTail {
    let tail = this.#tails.get(userId);
    if (tail === undefined) {
      tail = new UserTail({
        readLast: () => this.#reads.readLastPosition(userId),
        read: (after, limit) => this.#reads.readUserEvents(userId, after, limit),
      });
      this.#tails.set(userId, tail);
    }
    tail.followers.add(follower);
    this.#size += 1;
    this.#timer ??= setInterval(() => this.#wakeAll(), POLL_MS);
    return tail;
  }

  #leave(userId: string, tail: UserTail, follower: Follower): void {
    tail.followers.delete(follower);
    this.#size -= 1;
    if (tail.followers.size === 0) this.#tails.delete(userId);
    if (this.#size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }

  #wakeAll(): void {
    for (const tail of this.#tails.values()) void tail.wake();
    for (const follower of this.#followers()) if (follower.isBehind) follower.sleeper.wake();
  }

  #followers(): Follower[] {
    return [...this.#tails.values()].flatMap((tail) => [...tail.followers]);
  }
}

function stopping(): AppError {
  return new AppError('server.stopping', 'Vitto is shutting down.', {
    status: 503,
    hint: 'The task goes on when it starts again.',
  });
}
