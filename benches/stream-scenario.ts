import { insertConversation } from '../apps/server/src/engine/journal/conversation.store.ts';
import { insertTask } from '../apps/server/src/engine/journal/task.store.ts';
import { createApiToken } from '../apps/server/src/identity/index.ts';
import type { Database } from '../apps/server/src/kernel/database/database.ts';
import { newId } from '../apps/server/src/kernel/ids.ts';
import { takeTask } from '../apps/server/src/runs/take-task.ts';

/** A running task and what its owner needs to write to it. */
export interface BenchTask {
  userId: string;
  taskId: string;
  fence: number;
}

export interface BenchUsers {
  /** One for each user, in the order of `tasks`. */
  tokens: string[];
  tasks: BenchTask[];
}

/** Makes users, each with a token to sign in with and a running task. */
export async function createUsers(database: Database, count: number): Promise<BenchUsers> {
  const tokens: string[] = [];
  const tasks: BenchTask[] = [];
  for (let index = 0; index < count; index += 1) {
    const userId = newId();
    await database.pool.query("insert into vitto_users (id, name, role) values ($1, $2, 'member')", [
      userId,
      `Bench ${index}`,
    ]);
    tokens.push((await createApiToken(database, userId, { name: 'bench' })).token);
    tasks.push(await startTask(database, userId));
  }
  return { tokens, tasks };
}

async function startTask(database: Database, userId: string): Promise<BenchTask> {
  const id = newId();
  const conversationId = newId();
  const title = 'bench';
  await insertConversation(database.pool, { id: conversationId, userId, title, allowedPaths: [] });
  await insertTask(database.pool, {
    id,
    userId,
    parentId: null,
    rootId: id,
    depth: 0,
    kind: 'chat',
    role: null,
    conversationId,
    title,
    tier: null,
    complexity: 'simple',
    estimatedDuration: 'short',
    allowedPaths: [],
    model: null,
    budget: { maxIterations: 50, maxTokens: null, maxCostUsd: null, maxDurationMs: null },
  });
  const task = await takeTask({ database, ...IDLE }, id, `bench-${process.pid}`);
  if (task === null) throw new Error('a task that was just made was not to be had');
  return { userId, taskId: id, fence: task.fence };
}

/** Nothing of it is used while tasks only run. */
const IDLE = {
  maxSubVittos: 5,
  queue: { wake: () => Promise.resolve(), send: () => Promise.resolve() },
  signals: { journalGrew: () => undefined, taskSeized: () => Promise.resolve() },
};

/** Last journal position of each task's user. */
export async function readLastPositions(database: Database, tasks: BenchTask[]): Promise<number[]> {
  const { rows } = await database.pool.query<{ userId: string; position: number }>(
    `select user_id as "userId", position::float8 as position from vitto_journal_positions where user_id = any($1::uuid[])`,
    [tasks.map((task) => task.userId)],
  );
  const found = new Map(rows.map((row) => [row.userId, row.position]));
  return tasks.map((task) => found.get(task.userId) ?? 0);
}
