import { eventEnvelope, type EventEnvelope } from '@vitto/contracts';
import { createEventSource, type EventSourceClient, type FetchLikeInit } from 'eventsource-client';
import type { ApiClient } from './api-client.ts';
import { readProblem, unreachable } from './api-problem.ts';

/** The server sends a comment each 15 s: three that are missing mean that the connection is dead. */
const SILENCE_LIMIT_MS = 45_000;
/** How long a server may be gone before the watch ends. */
const GIVE_UP_AFTER_MS = 300_000;
const PAGE_SIZE = 500;

/** A position that no journal reaches: the server answers it with where it is now. */
export const FROM_NOW = Number.MAX_SAFE_INTEGER;

export type ConnectionState = 'lost' | 'restored' | 'set-back';

export interface StreamOptions {
  /** One task's events; absent: all of mine. */
  taskId?: string;
  /** Only events after this position; `FROM_NOW` for those that have not happened yet. */
  after: number;
  /** Told when the connection breaks, when it is back, and when the server's journal is shorter than it was. */
  onConnection?: (state: ConnectionState) => void;
  /** Ends the stream. */
  signal?: AbortSignal;
}

/**
 * Events as they happen, in order, each once, across broken connections and restarts of the server. Ends when the
 * signal aborts. @throws CliError when the server refuses the stream, or is gone for 5 minutes.
 */
export async function* followEvents(api: ApiClient, options: StreamOptions): AsyncGenerator<EventEnvelope> {
  let last = options.after;
  const connection = new Connection(api, options);
  try {
    for await (const message of connection.source) {
      if (message.event === 'resync') {
        if (last !== FROM_NOW) options.onConnection?.('set-back');
        last = Math.min(last, readPosition(message.data));
      }
      const events =
        message.event === 'resync' ? readPages(api, options.taskId, last) : [readEvent(message.data)];
      for await (const event of events) {
        if (event === null || event.position <= last) continue;
        last = event.position;
        yield event;
      }
    }
    if (connection.failure !== null) throw connection.failure;
  } finally {
    connection.close();
  }
}

/** All events after a position that are there now, page by page. */
export async function* readPages(
  api: ApiClient,
  taskId: string | undefined,
  after: number,
): AsyncGenerator<EventEnvelope> {
  for (let last = after; ;) {
    const query = { after: last, limit: PAGE_SIZE };
    const { items } = await (taskId === undefined ? api.listAllEvents(query) : api.listEvents(taskId, query));
    yield* items;
    const newest = items.at(-1)?.position ?? last;
    if (items.length < PAGE_SIZE || newest <= last) return;
    last = newest;
  }
}

/** All events of a task that are there now. */
export async function collectEvents(api: ApiClient, taskId: string): Promise<EventEnvelope[]> {
  const events: EventEnvelope[] = [];
  for await (const event of readPages(api, taskId, 0)) events.push(event);
  return events;
}

/** The library's connection, with what it leaves open: statuses that no retry mends, dead connections, giving up. */
class Connection {
  readonly source: EventSourceClient;
  failure: Error | null = null;
  readonly #api: ApiClient;
  readonly #onConnection: NonNullable<StreamOptions['onConnection']>;
  #attempt = new AbortController();
  #silence: NodeJS.Timeout | undefined;
  #lostAt: number | null = null;

  constructor(api: ApiClient, { taskId, after, onConnection, signal }: StreamOptions) {
    this.#api = api;
    this.#onConnection = onConnection ?? (() => {});
    const path = taskId === undefined ? 'api/events' : `api/tasks/${encodeURIComponent(taskId)}/events`;
    this.source = createEventSource({
      url: api.address(path),
      headers: api.headers,
      // Always sent: a connection that breaks before its first event must go on from the same place.
      initialLastEventId: String(after),
      fetch: (url, init) => this.#connect(url, init),
      onMessage: () => this.#heard(),
      onComment: () => this.#heard(),
      onScheduleReconnect: () => this.#lost(),
    });
    signal?.addEventListener('abort', () => this.close(), { once: true });
    if (signal?.aborted === true) this.close();
  }

  close(): void {
    clearTimeout(this.#silence);
    this.source.close();
  }

  async #connect(url: string | URL, init: FetchLikeInit | undefined): Promise<Response> {
    this.#attempt = new AbortController();
    this.#heard();
    const signal = AbortSignal.any([init?.signal as AbortSignal, this.#attempt.signal]);
    const response = await fetch(url, { headers: init?.headers ?? {}, redirect: 'error', signal });
    if (!response.ok) await this.#refused(response);
    this.#heard();
    if (this.#lostAt !== null) this.#onConnection('restored');
    this.#lostAt = null;
    return response;
  }

  /** A refusal ends the stream; a server that is only busy or starting is asked again. */
  async #refused(response: Response): Promise<never> {
    const problem = await readProblem(response);
    const isPassing = response.status >= 500 || response.status === 429 || response.status === 408;
    if (!isPassing) this.#fail(problem);
    throw problem;
  }

  #heard(): void {
    clearTimeout(this.#silence);
    const stalled = () => this.#attempt.abort(new Error('The connection went silent.'));
    this.#silence = setTimeout(stalled, SILENCE_LIMIT_MS);
  }

  #lost(): void {
    clearTimeout(this.#silence);
    if (this.#lostAt === null) this.#onConnection('lost');
    this.#lostAt ??= Date.now();
    if (Date.now() - this.#lostAt > GIVE_UP_AFTER_MS) this.#fail(unreachable(this.#api.url, undefined));
  }

  #fail(failure: Error): void {
    this.failure = failure;
    this.close();
  }
}

function readPosition(data: string): number {
  try {
    const { lastPosition } = JSON.parse(data) as { lastPosition?: unknown };
    return typeof lastPosition === 'number' ? lastPosition : 0;
  } catch {
    return 0;
  }
}

function readEvent(data: string): EventEnvelope | null {
  try {
    return eventEnvelope.safeParse(JSON.parse(data)).data ?? null;
  } catch {
    return null;
  }
}
