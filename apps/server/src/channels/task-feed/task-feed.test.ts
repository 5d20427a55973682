import type { EventEnvelope } from '@vitto/contracts';
import { describe, expect, it } from 'vitest';
import type { Signal } from '../../kernel/signal-bus.ts';
import { TaskFeed } from './task-feed.ts';

/** Lets what waits for nothing but its turn run. */
const settle = () => new Promise((resolve) => setImmediate(resolve));
const settleAll = async () => {
  for (let index = 0; index < 20; index += 1) await settle();
};

/** A journal in memory, and the signals that tell of it. */
function createJournal() {
  const events: EventEnvelope[] = [];
  const listeners = new Set<(signal: Signal) => void>();
  const state = { failure: null as Error | null, reads: 0 };
  const signals = {
    listen: (listener: (signal: Signal) => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  const read = (isMeant: (event: EventEnvelope) => boolean, limit: number) => {
    const { failure } = state;
    state.failure = null;
    // What is read is what was there when the question came, and is given a turn later.
    const found = events.filter(isMeant).slice(0, limit);
    return failure === null ? settle().then(() => found) : Promise.reject(failure);
  };
  const reads = {
    readLastPosition: () => settle().then(() => events.length),
    readUserEvents: (_user: string, after: number, limit: number) =>
      read((event) => event.position > after, limit),
    readTaskEvents: (_user: string, taskId: string, after: number, limit: number) => {
      state.reads += 1;
      return read((event) => event.taskId === taskId && event.position > after, limit);
    },
  };
  const feed = new TaskFeed({ signals, reads });
  const signal = (userId: string) => listeners.forEach((listener) => listener({ kind: 'journal', userId }));
  const append = (type: string, taskId = 'task') => {
    const position = events.length + 1;
    events.push({ position, taskId, seq: position, type, at: '2026-01-01T00:00:00.000Z', payload: {} });
    signal('user');
  };
  return { feed, state, append, signal };
}

function follow(feed: TaskFeed, signal = new AbortController().signal, credential = 'token:1') {
  const types: string[] = [];
  const over = (async () => {
    for await (const batch of feed.follow({ userId: 'user', taskId: 'task', after: 0, signal, credential })) {
      types.push(...batch.map((event) => event.type));
    }
  })();
  over.catch(() => undefined);
  return { types, over };
}
describe('a task that is followed', () => {
  it('is given whole and once, up to its last event', async () => {
    const { feed, append } = createJournal();
    append('task.created');
    const { types, over } = follow(feed);
    for (let index = 0; index < 450; index += 1) append('agent.text', index % 3 === 0 ? 'other' : 'task');
    append('task.completed');
    await over;
    expect(types).toEqual([
      'task.created',
      ...Array.from({ length: 300 }, () => 'agent.text'),
      'task.completed',
    ]);
    expect(feed.size).toBe(0);
  });

  it('is read once; what comes later is read for all who follow tasks of its user together', async () => {
    const { feed, state, append } = createJournal();
    const following = Array.from({ length: 10 }, () => follow(feed));
    await settleAll();
    expect(state.reads).toBe(10);
    for (let index = 0; index < 30; index += 1) {
      append('agent.text');
      if (index % 10 === 0) await settleAll();
    }
    append('task.completed');
    for (const { types, over } of following) {
      await over;
      expect(types).toHaveLength(31);
    }
    expect(state.reads).toBe(10);
  });

  it('is given whole to who takes it slowly', async () => {
    const { feed, append } = createJournal();
    const positions: number[] = [];
    const { signal } = new AbortController();
    const request = { userId: 'user', taskId: 'task', after: 0, signal, credential: 'token:1' };
    const over = (async () => {
      for await (const batch of feed.follow(request)) {
        positions.push(...batch.map((event) => event.position));
        await settleAll();
      }
    })();
    for (let index = 0; index < 3_000; index += 1) {
      append('agent.text');
      if (index % 50 === 0) await settle();
    }
    append('task.completed');
    await over;
    expect(positions).toEqual(Array.from({ length: 3_001 }, (_, index) => index + 1));
  });

  it('is waited for while the database is away, and what it wrote is not missed', async () => {
    const { feed, state, append, signal } = createJournal();
    state.failure = Object.assign(new Error('gone'), { code: 'ECONNREFUSED' });
    const { types, over } = follow(feed);
    append('task.completed');
    await settleAll();
    signal('user');
    await over;
    expect(types).toEqual(['task.completed']);
  });

  it('ends with what the reading fails of otherwise', async () => {
    const { feed, state } = createJournal();
    state.failure = new Error('a defect');
    await expect(follow(feed).over).rejects.toThrow('a defect');
    expect(feed.size).toBe(0);
  });
});

describe('a following ends', () => {
  it("with its caller's signal and its reason", async () => {
    const { feed } = createJournal();
    const controller = new AbortController();
    const { over } = follow(feed, controller.signal);
    await settleAll();
    controller.abort(new Error('enough'));
    await expect(over).rejects.toThrow('enough');
    expect(feed.size).toBe(0);
  });

  it('with the token that asked for it, and with no other', async () => {
    const { feed, append } = createJournal();
    const gone = follow(feed, undefined, 'token:1');
    const stays = follow(feed, undefined, 'token:2');
    await settleAll();
    feed.endCredential('token:1');
    await expect(gone.over).rejects.toMatchObject({ code: 'sign-in.required' });
    append('task.completed');
    await stays.over;
  });

  it('with the server, which follows no more then', async () => {
    const { feed } = createJournal();
    const { over } = follow(feed);
    await settleAll();
    feed.close();
    await expect(over).rejects.toMatchObject({ code: 'server.stopping' });
    expect(() => feed.checkRoom()).toThrow(/shutting down/);
  });
});
