import { bulkhead, type BulkheadPolicy } from 'cockatiel';
import type { FastifyReply } from 'fastify';
import type { EventEnvelope } from '@vitto/contracts';
import { AppError, describeError } from '../../../kernel/app-error.ts';
import type { Logger } from '../../../kernel/logger.ts';
import type { SignalBus } from '../../../kernel/signal-bus.ts';
import { StreamClient } from './stream-client.ts';
import { UserFeed } from './user-feed.ts';

export interface StreamLimits {
  /** Between two heartbeat comments, in milliseconds. */
  heartbeatMs: number;
  /** Between two looks at the table without a signal, in milliseconds: a net under lost signals. */
  pollMs: number;
  /** How long a client may take nothing before it is dropped, in milliseconds. */
  stallMs: number;
  /** A stream ends after this many milliseconds, and its client comes back: sign-in is looked at again. */
  maxAgeMs: number;
  /** Most streams of this process. */
  maxStreams: number;
}
export const STREAM_LIMITS: StreamLimits = {
  heartbeatMs: 15_000,
  pollMs: 2_000,
  stallMs: 30_000,
  maxAgeMs: 3_600_000,
  maxStreams: 4_000,
};
/** Pages that are read from the table at once for clients that catch up: the others wait for their turn. */
const CATCH_UP_READS = 4;
/** How long a stream that is ended from here may take for its rest, in milliseconds. */
const SHUTDOWN_MS = 1_000;

export interface EventReads {
  readLastPosition: (userId: string) => Promise<number>;
  readUserEvents: (userId: string, after: number, limit: number) => Promise<EventEnvelope[]>;
  readTaskEvents: (userId: string, taskId: string, after: number, limit: number) => Promise<EventEnvelope[]>;
}

export interface StreamRequest {
  userId: string;
  /** `null`: all of the user's events. */
  taskId: string | null;
  /** The client has everything up to here. */
  position: number;
  /** The user's last position, read before. */
  lastPosition: number;
  /** True when the task has ended: what is left is sent and the stream ends. */
  isOver: boolean;
  /** The stream ends with the session or token it was opened with. */
  credential: string;
  /** Written first, before any event. */
  preamble: string;
}

interface Listener {
  client: StreamClient;
  userId: string;
  credential: string;
}

/**
 * The streams of this process. A user has one reader however many listen; each event becomes bytes once. Signals wake
 * the readers; what is sent is what the table holds, so a lost signal costs a moment and never an event.
 */
export class EventHub {
  readonly #reads: EventReads;
  readonly #logger: Logger;
  readonly #limits: StreamLimits;
  readonly #feeds = new Map<string, UserFeed>();
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #catchUp: BulkheadPolicy = bulkhead(CATCH_UP_READS, Number.MAX_SAFE_INTEGER);
  readonly #unlisten: () => void;
  #timers: NodeJS.Timeout[] = [];
  #count = 0;
  #isClosed = false;
  #hasFailed = false;

  constructor(options: {
    reads: EventReads;
    signals: Pick<SignalBus, 'listen'>;
    logger: Logger;
    limits: StreamLimits;
  }) {
    this.#reads = options.reads;
    this.#logger = options.logger;
    this.#limits = options.limits;
    this.#unlisten = options.signals.listen((signal) => {
      if (signal.kind === 'journal') this.#wakeFeed(signal.userId);
      else if (signal.kind === 'reconnected') this.#wakeAll();
    });
  }

  get size(): number {
    return this.#count;
  }

  /** @throws AppError `stream.unavailable` (503) when this process takes no more streams. */
  checkRoom(): void {
    if (!this.#isClosed && this.#count < this.#limits.maxStreams) return;
    throw new AppError(
      'stream.unavailable',
      this.#isClosed ? 'Vitto is shutting down.' : 'Too many streams are open.',
      {
        status: 503,
        hint: 'Try again in a few seconds; nothing is missed when you send `Last-Event-ID`.',
      },
    );
  }

  /** Takes the reply over as an event stream, until the client goes, the task ends or the process stops. */
  open(reply: FastifyReply, request: StreamRequest): void {
    this.checkRoom();
    const { raw } = reply;
    reply.hijack();
    if (raw.destroyed) return;
    raw.writeHead(200, {
      ...(reply.getHeaders() as Record<string, string>),
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      connection: 'close',
    });
    raw.write(request.preamble);
    const client = new StreamClient({
      raw,
      feed: this.#feedOf(request),
      taskId: request.taskId,
      position: request.position,
      isOver: request.isOver,
      readPage: (after, limit) => this.#readPage(request, after, limit),
      stallMs: this.#limits.stallMs,
    });
    this.#add({ client, userId: request.userId, credential: request.credential }, raw);
    this.#wakeClient(client);
    this.#wakeFeed(request.userId);
  }

  /** Ends the streams that were opened with a session or token that is gone. */
  endCredential(credential: string): void {
    for (const listener of this.#all()) {
      if (listener.credential === credential) listener.client.end('signed out', SHUTDOWN_MS);
    }
  }

  /** Ends all streams, so that the server can close; clients come back to the next process from where they are. */
  close(): void {
    this.#isClosed = true;
    this.#unlisten();
    this.#stopTimers();
    for (const listener of this.#all()) listener.client.end('the server stops', SHUTDOWN_MS);
  }

  #feedOf(request: StreamRequest): UserFeed {
    const known = this.#feeds.get(request.userId);
    if (known !== undefined) return known;
    const { userId } = request;
    const feed = new UserFeed({
      start: request.lastPosition,
      read: (after, limit) => this.#reads.readUserEvents(userId, after, limit),
      onGrowth: () => {
        for (const { client } of this.#listeners.get(userId) ?? []) this.#wakeClient(client);
      },
    });
    this.#feeds.set(userId, feed);
    return feed;
  }

  #readPage(request: StreamRequest, after: number, limit: number): Promise<EventEnvelope[]> {
    return this.#catchUp.execute(() =>
      request.taskId === null
        ? this.#reads.readUserEvents(request.userId, after, limit)
        : this.#reads.readTaskEvents(request.userId, request.taskId, after, limit),
    );
  }

  #add(listener: Listener, raw: FastifyReply['raw']): void {
    const listeners = this.#listeners.get(listener.userId) ?? new Set();
    this.#listeners.set(listener.userId, listeners.add(listener));
    this.#count += 1;
    this.#startTimers();
    raw.on('error', () => undefined);
    raw.once('close', () => this.#remove(listener));
  }

  #remove(listener: Listener): void {
    listener.client.close();
    const listeners = this.#listeners.get(listener.userId);
    if (listeners?.delete(listener) !== true) return;
    this.#count -= 1;
    if (listeners.size === 0) {
      this.#listeners.delete(listener.userId);
      this.#feeds.delete(listener.userId);
    }
    if (this.#count === 0) this.#stopTimers();
  }

  #wakeFeed(userId: string): void {
    this.#feeds
      .get(userId)
      ?.wake()
      .then(() => (this.#hasFailed = false))
      .catch((error: unknown) => this.#noteFailure(error));
  }

  #wakeClient(client: StreamClient): void {
    client.wake().catch((error: unknown) => this.#noteFailure(error));
  }

  #wakeAll(): void {
    for (const userId of this.#feeds.keys()) this.#wakeFeed(userId);
    for (const { client } of this.#all()) this.#wakeClient(client);
  }

  #noteFailure(error: unknown): void {
    if (!this.#hasFailed) {
      this.#logger.warn(
        { reason: describeError(error) },
        'could not read new events; the streams stay open and go on once the database answers',
      );
    }
    this.#hasFailed = true;
  }

  #beat(): void {
    const now = performance.now();
    for (const { client } of this.#all()) {
      if (now - client.openedAt > this.#limits.maxAgeMs) client.end('come back', this.#limits.stallMs);
      else client.beat();
    }
  }

  #startTimers(): void {
    if (this.#timers.length > 0) return;
    this.#timers = [
      setInterval(() => this.#beat(), this.#limits.heartbeatMs),
      setInterval(() => this.#wakeAll(), this.#limits.pollMs),
    ];
  }

  #stopTimers(): void {
    for (const timer of this.#timers) clearInterval(timer);
    this.#timers = [];
  }

  #all(): Listener[] {
    return [...this.#listeners.values()].flatMap((listeners) => [...listeners]);
  }
}
