import type { EventEnvelope } from '@vitto/contracts';
import { describe, expect, it } from 'vitest';
import { followDemo } from './follow-demo.ts';

const ROOT = '0198a000-0000-7000-8000-000000000000';
const CHILD = '0198a000-0000-7000-8000-000000000001';

const event = (position: number, taskId: string, type: string, payload: object = {}): EventEnvelope => ({
  position,
  taskId,
  seq: position,
  type,
  at: '2026-01-01T00:00:00Z',
  payload: { ...payload },
});
const spawned = event(2, ROOT, 'subvitto.spawned', {
  id: CHILD,
  parentTaskId: ROOT,
  role: 'tester',
  tier: 'vm',
  depth: 1,
  description: 'Run the tests.',
});
const options = { signal: new AbortController().signal, hear: () => undefined };

describe('following a demo', () => {
  it('gives the events of the task and its sub-Vittos in the order in which they were written', async () => {
    const journals: Record<string, EventEnvelope[]> = {
      [ROOT]: [event(1, ROOT, 'a'), spawned, event(5, ROOT, 'e')],
      [CHILD]: [event(3, CHILD, 'c'), event(4, CHILD, 'd')],
    };
    const heard: string[] = [];
    const events = await followDemo(
      {
        async *followTask(id) {
          yield* journals[id] ?? [];
        },
      },
      ROOT,
      { ...options, hear: ({ type }) => heard.push(type) },
    );
    expect(events.map(({ position }) => position)).toEqual([1, 2, 3, 4, 5]);
    expect(heard.toSorted()).toEqual(events.map(({ type }) => type).toSorted());
  });

  it('fails when the journal of a sub-Vitto cannot be read, however long the task goes on', async () => {
    const following = followDemo(
      {
        async *followTask(id) {
          if (id === CHILD) throw new Error('gone');
          yield spawned;
          // By then that of the sub-Vitto has failed, with nobody waiting for it yet.
          await new Promise((resolve) => setImmediate(resolve));
          yield event(3, ROOT, 'e');
        },
      },
      ROOT,
      options,
    );
    await expect(following).rejects.toThrow('gone');
  });
});
