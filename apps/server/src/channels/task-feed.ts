import type { EventEnvelope } from '@vitto/contracts';
import { AppError } from '../kernel/app-error.ts';
import { isDatabaseAway } from '../kernel/database/database.ts';
import type { SignalBus } from '../kernel/signal-bus.ts';
import { Sleeper } from './sleeper.ts';

/** Events that are read from the table at once. */
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

interface Follower {
  userId: string;
  credential: string;
  sleeper: Sleeper;
  stop: AbortController;
}

/**
 * Single tasks as they happen, for programs that wait for an answer. Signals wake it; what it gives is what the
 * journal holds, so a lost signal costs a moment and never an event.
 */
export class TaskFeed {
  readonly #read: (userId: string, taskId: string, after: number, limit: number) => Promise<EventEnvelope[]>;
  readonly #followers = new Set<Follower>();
  readonly #unlisten: () => void;
  #isClosed = false;

  constructor(options: {
    signals: Pick<SignalBus, 'listen'>;
    read: (userId: string, taskId: string, after: number, limit: number) => Promise<EventEnvelope[]>;
  }) {
    this.#read = options.read;
    this.#unlisten = options.signals.listen((signal) => {
      if (signal.kind === 'journal') this.#wake((follower) => follower.userId === signal.userId);
      else if (signal.kind === 'reconnected') this.#wake(() => true);
    });
  }

  /** How many tasks are followed now. */
  get size(): number {
    return this.#followers.size;
  }

  /** @throws AppError `stream.unavailable` (503) when this process follows no more tasks. */
  checkRoom(): void {
    if (this.#isClosed) throw stopping();
    if (this.#followers.size < MAX_FOLLOWERS) return;
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
    const { userId, credential } = request;
    const follower = { userId, credential, sleeper: new Sleeper(), stop: new AbortController() };
    const signal = AbortSignal.any([request.signal, follower.stop.signal]);
    this.#followers.add(follower);
    try {
      for (let after = request.after; ;) {
        signal.throwIfAborted();
        const events = await this.#readPage(request, after);
        after = events.at(-1)?.position ?? after;
        if (events.length > 0) yield events;
        if (events.some((event) => END_TYPES.has(event.type))) return;
        if (events.length < PAGE_ROWS) await follower.sleeper.sleep(POLL_MS, signal);
      }
    } finally {
      this.#followers.delete(follower);
    }
  }

  /** Ends what is followed with a token that is gone. */
  endCredential(credential: string): void {
    for (const follower of this.#followers) {
      if (follower.credential !== credential) continue;
      follower.stop.abort(
        new AppError('sign-in.required', 'The token of this request was taken back.', { status: 401 }),
      );
    }
  }

  /** Ends all following, so that the server can close. The tasks go on. */
  close(): void {
    this.#isClosed = true;
    this.#unlisten();
    for (const follower of this.#followers) follower.stop.abort(stopping());
  }

  async #readPage(request: FollowRequest, after: number): Promise<EventEnvelope[]> {
    try {
      return await this.#read(request.userId, request.taskId, after, PAGE_ROWS);
    } catch (error) {
      if (!isDatabaseAway(error)) throw error;
      return [];
    }
  }

  #wake(isMeant: (follower: Follower) => boolean): void {
    for (const follower of this.#followers) if (isMeant(follower)) follower.sleeper.wake();
  }
}

function stopping(): AppError {
  return new AppError('server.stopping', 'Vitto is shutting down.', {
    status: 503,
    hint: 'The task goes on when it starts again.',
  });
}
