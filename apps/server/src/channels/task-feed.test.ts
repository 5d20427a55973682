import type { EventEnvelope } from '@vitto/contracts';
import { describe, expect, it } from 'vitest';
import type { Signal } from '../kernel/signal-bus.ts';
import { TaskFeed } from './task-feed.ts';

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
  const feed = new TaskFeed({
    signals,
    read: (_user, taskId, after, limit) => {
      state.reads += 1;
      const { failure } = state;
      state.failure = null;
      if (failure !== null) return Promise.reject(failure);
      return Promise.resolve(
        events.filter((event) => event.taskId === taskId && event.position > after).slice(0, limit),
      );
    },
  });
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
/** Lets everything run that waits for nothing but its turn. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

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

  it('is looked at again only when its user has news', async () => {
    const { feed, state, append, signal } = createJournal();
    const { over } = follow(feed);
    await settle();
    const before = state.reads;
    signal('somebody else');
    await settle();
    expect(state.reads).toBe(before);
    append('task.failed');
    await over;
  });

  it('is waited for while the database is away, and what it wrote is not missed', async () => {
    const { feed, state, append, signal } = createJournal();
    state.failure = Object.assign(new Error('gone'), { code: 'ECONNREFUSED' });
    const { types, over } = follow(feed);
    append('task.completed');
    await settle();
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
    await settle();
    controller.abort(new Error('enough'));
    await expect(over).rejects.toThrow('enough');
    expect(feed.size).toBe(0);
  });

  it('with the token that asked for it, and with no other', async () => {
    const { feed, append } = createJournal();
    const gone = follow(feed, undefined, 'token:1');
    const stays = follow(feed, undefined, 'token:2');
    await settle();
    feed.endCredential('token:1');
    await expect(gone.over).rejects.toMatchObject({ code: 'sign-in.required' });
    append('task.completed');
    await stays.over;
  });

  it('with the server, which follows no more then', async () => {
    const { feed } = createJournal();
    const { over } = follow(feed);
    await settle();
    feed.close();
    await expect(over).rejects.toMatchObject({ code: 'server.stopping' });
    expect(() => feed.checkRoom()).toThrow(/shutting down/);
  });
});
