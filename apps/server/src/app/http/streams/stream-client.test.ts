import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EventEnvelope } from '@vitto/contracts';
import { describe, expect, it } from 'vitest';
import { StreamClient } from './stream-client.ts';
import { UserFeed } from './user-feed.ts';

const TASKS = ['a', 'b', 'c'];

/** A journal in memory whose reads take a turn of the event loop and may fail. */
class FakeJournal {
  readonly events: EventEnvelope[] = [];
  failures = 0;

  append(count: number, random: () => number, bytes = 10): void {
    for (let index = 0; index < count; index += 1) {
      this.events.push({
        position: this.events.length + 1,
        taskId: TASKS[Math.floor(random() * TASKS.length)] as string,
        seq: 1,
        type: 'tool.progress',
        at: '2026-01-01T00:00:00.000Z',
        payload: { text: 'x'.repeat(bytes) },
      });
    }
  }

  async read(after: number, limit: number, taskId: string | null = null): Promise<EventEnvelope[]> {
    const seen = this.events.length;
    await nextTurn();
    if (this.failures > 0) {
      this.failures -= 1;
      throw new Error('the database is away');
    }
    return this.events
      .slice(after, seen)
      .filter((event) => taskId === null || event.taskId === taskId)
      .slice(0, limit);
  }
}

/** What a socket is to a stream: it takes bytes, says when it has had enough, and when it wants more. */
class FakeResponse extends EventEmitter {
  /** Bytes so far, and the ids in them. A frame is never cut in two. */
  size = 0;
  readonly positions: number[] = [];
  writableNeedDrain = false;
  isEnded = false;
  isDestroyed = false;
  #taken = 0;
  readonly #capacity: number;

  constructor(capacity: number) {
    super();
    this.#capacity = capacity;
  }
  write(bytes: Buffer | string): boolean {
    this.size += bytes.length;
    for (const match of bytes.toString().matchAll(/^id: (\d+)$/gm)) this.positions.push(Number(match[1]));
    this.writableNeedDrain = this.size - this.#taken > this.#capacity;
    return !this.writableNeedDrain;
  }
  drain(): void {
    this.#taken = this.size;
    if (!this.writableNeedDrain) return;
    this.writableNeedDrain = false;
    this.emit('drain');
  }
  end(): void {
    this.isEnded = true;
    this.emit('close');
  }
  destroy(): void {
    this.isDestroyed = true;
    this.emit('close');
  }
}

function openClient(
  journal: FakeJournal,
  feed: UserFeed,
  options: { taskId?: string | null; position: number; capacity?: number; stallMs?: number },
) {
  const raw = new FakeResponse(options.capacity ?? 1e9);
  const taskId = options.taskId ?? null;
  const client = new StreamClient({
    raw: raw as unknown as ServerResponse,
    feed,
    taskId,
    position: options.position,
    isOver: false,
    readPage: (after, limit) => journal.read(after, limit, taskId),
    stallMs: options.stallMs ?? 1e6,
  });
  return { raw, client, taskId, start: options.position };
}

/** Numbers that are the same at each run of a seed (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

describe('clients of one feed', () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8])(
    'each get every event after their place once and in order, whatever comes between (seed %i)',
    async (seed) => {
      const random = seeded(seed);
      const journal = new FakeJournal();
      journal.append(Math.floor(random() * 2_000), random);
      const clients: ReturnType<typeof openClient>[] = [];
      const wake = (client: StreamClient) => void client.wake().catch(() => undefined);
      const feed = new UserFeed({
        start: journal.events.length,
        read: (after, limit) => journal.read(after, limit),
        onGrowth: () => clients.forEach(({ client }) => wake(client)),
      });
      for (let step = 0; step < 150; step += 1) {
        const dice = random();
        if (dice < 0.1 && clients.length < 20) {
          const opened = openClient(journal, feed, {
            taskId: random() < 0.5 ? null : (TASKS[Math.floor(random() * 3)] as string),
            position: Math.floor(random() * (journal.events.length + 1)),
            capacity: random() < 0.5 ? 2_000 : 1e9,
          });
          clients.push(opened);
          wake(opened.client);
        } else if (dice < 0.4)
          journal.append(Math.floor(random() * 40), random, random() < 0.05 ? 20_000 : 10);
        else if (dice < 0.42) journal.append(3_000, random);
        else if (dice < 0.45) journal.failures = 2;
        else if (dice < 0.7) void feed.wake().catch(() => undefined);
        else if (dice < 0.8) for (const { raw } of clients) raw.drain();
        else await nextTurn();
      }
      journal.failures = 0;
      const wanted = (taskId: string | null, start: number) =>
        journal.events
          .filter((event) => event.position > start && (taskId === null || event.taskId === taskId))
          .map((event) => event.position);
      const isComplete = () =>
        clients.every(({ raw, taskId, start }) => raw.positions.length >= wanted(taskId, start).length);
      for (let turn = 0; turn < 5_000 && !isComplete(); turn += 1) {
        void feed.wake().catch(() => undefined);
        for (const { raw, client } of clients) {
          raw.drain();
          wake(client);
        }
        await nextTurn();
      }
      expect(clients.length).toBeGreaterThan(3);
      for (const { raw, taskId, start } of clients) expect(raw.positions).toEqual(wanted(taskId, start));
    },
    60_000,
  );

  it('that take nothing are given no more than one write above their buffer, and are cut off', async () => {
    const journal = new FakeJournal();
    const slow: ReturnType<typeof openClient>[] = [];
    const feed = new UserFeed({
      start: 0,
      read: (after, limit) => journal.read(after, limit),
      onGrowth: () => slow.forEach(({ client }) => void client.wake()),
    });
    slow.push(openClient(journal, feed, { position: 0, capacity: 1_000, stallMs: 20 }));
    const { raw } = slow[0] as ReturnType<typeof openClient>;
    const closed = new Promise((resolve) => raw.once('close', resolve));
    for (let round = 0; round < 50; round += 1) {
      journal.append(100, Math.random, 1_000);
      await feed.wake();
    }
    await closed;
    expect(raw.isDestroyed).toBe(true);
    expect(raw.size).toBeLessThan(200_000);
  });
});
