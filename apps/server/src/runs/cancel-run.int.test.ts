import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  acquireLease,
  appendEvents,
  findTask,
  insertTask,
  LostLease,
  type NewTask,
} from '../engine/index.ts';
import { sqlState } from '../kernel/database/database.ts';
import { newId } from '../kernel/ids.ts';
import { createRunHarness, type RunHarness } from './testing/run-harness.ts';
import { giveTaskBack } from './give-task-back.ts';
import { cancelRun } from './index.ts';

let h: RunHarness;
let deadlocks = 0;
const countDeadlock = (error: unknown) => {
  if (sqlState(error) === '40P01') deadlocks += 1;
};
beforeAll(async () => {
  h = await createRunHarness({});
  h.database.pool.on('connect', (client) => {
    const query = client.query.bind(client) as (...args: unknown[]) => unknown;
    client.query = ((...args: unknown[]) => {
      const result = query(...args);
      if (result instanceof Promise) result.catch(countDeadlock);
      return result;
    }) as typeof client.query;
  });
});
afterAll(() => h.drop());

/** A root with `children` children, each with a child of its own; all of them run. */
async function growTree(children: number) {
  const add = async (parent: NewTask | null) => {
    const id = newId();
    const task: NewTask = {
      id,
      userId: h.userId,
      parentId: parent?.id ?? null,
      rootId: parent?.rootId ?? id,
      depth: parent === null ? 0 : parent.depth + 1,
      kind: parent === null ? 'chat' : 'subvitto',
      role: null,
      conversationId: null,
      title: 'a task',
      tier: null,
      complexity: 'simple',
      estimatedDuration: 'short',
      allowedPaths: [],
      model: null,
      budget: { maxIterations: 50, maxTokens: 1e9, maxCostUsd: null, maxDurationMs: null },
    };
    await insertTask(h.database.pool, task);
    const lease = await acquireLease(h.database.pool, id, 'worker-1');
    return { task, fence: lease?.fence ?? 0 };
  };
  const root = await add(null);
  const below = [];
  for (let index = 0; index < children; index += 1) {
    const child = await add(root.task);
    below.push(await add(child.task), child);
  }
  return { root, all: [...below, root] };
}

/** Steps of a task's owner, each with money on its day, until the task is taken from it. */
async function work(task: { task: NewTask; fence: number }, day: string): Promise<number> {
  for (let steps = 0; ; steps += 1) {
    try {
      await appendEvents(h.database.pool, {
        taskId: task.task.id,
        fence: task.fence,
        events: [{ type: 'agent.text', payload: { turn: 1, text: 'x' } } as never],
        settle: { reservedTokens: 10, reservedCost: 10, tokens: 5, cost: 5 },
        reserve: { tokens: 10, cost: 10, day, dailyLimit: null },
      });
    } catch (error) {
      if (error instanceof LostLease) return steps;
      countDeadlock(error);
      if (sqlState(error) !== '40P01') throw error;
    }
  }
}

it('cancels a tree whose tasks all go on writing, without one deadlock, and books it all', async () => {
  for (let round = 0; round < 6; round += 1) {
    const { root, all } = await growTree(4);
    const owners = all.map((task, index) => work(task, index % 2 === 0 ? '2026-01-01' : '2026-01-02'));
    await new Promise((resolve) => setTimeout(resolve, 100));
    const cancel = (taskId: string) => cancelRun(h.runs, { userId: h.userId, taskId, by: 'test' });
    // Part of the tree, the whole of it, and the whole of it once more, at the same time.
    await Promise.all([cancel(all[1]?.task.id ?? ''), cancel(root.task.id), cancel(root.task.id)]);
    await Promise.all(owners);
    for (const { task } of all) {
      const record = await findTask(h.database.pool, h.userId, task.id);
      expect(record).toMatchObject({ state: 'cancelled', reservedTokens: 0, reservedCostNano: 0 });
      const ends = (await h.events(task.id)).filter((event) => event.type === 'task.cancelled');
      expect(ends).toHaveLength(1);
      expect(ends[0]?.payload['spending']).toMatchObject({ tokens: record?.tokens });
    }
  }
  expect(deadlocks).toBe(0);
});

it('books the input of a call once when a shutdown broke it off and a cancel came after', async () => {
  const { root } = await growTree(0);
  const { id } = root.task;
  await appendEvents(h.database.pool, {
    taskId: id,
    fence: root.fence,
    events: [],
    reserve: { tokens: 1_500, cost: 30_000, day: '2026-01-01', dailyLimit: null },
    then: [
      {
        type: 'agent.iteration',
        payload: { turn: 1, reserved: { inputTokens: 1_000, inputCostUsd: 0.00002 } },
      } as never,
    ],
    iteration: 1,
  });
  await giveTaskBack({ database: h.database, workerId: 'worker-1' }, id);
  await cancelRun(h.runs, { userId: h.userId, taskId: id, by: 'test' });
  expect(await findTask(h.database.pool, h.userId, id)).toMatchObject({
    tokens: 1_000,
    costNano: 20_000,
    reservedTokens: 0,
    reservedCostNano: 0,
  });
});
