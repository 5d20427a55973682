import { afterAll, beforeAll, expect, it } from 'vitest';
import { createRunHarness, type RunHarness } from './testing/run-harness.ts';
import type { Sql } from '../kernel/database/database.ts';
import { listMessages, readTaskEventsAfterPosition } from '../engine/index.ts';

const EVENTS = 40_000;
let h: RunHarness;
let conversationId: string;
let taskId: string;
/** Positions of the long task: every second one is another task's. */
const positionOf = (seq: number) => 1_000 + seq * 2;

beforeAll(async () => {
  h = await createRunHarness({});
  ({ taskId, conversationId } = (await h.start('a long task')) as { taskId: string; conversationId: string });
  const other = await h.start('another task');
  const first = (await h.task(taskId)).lastSeq + 1;
  const insert = `insert into vitto_task_events (task_id, seq, user_id, position, conversation_id, type, payload, at)
    select $1, n, $2, 1000 + n * 2 + $3, $4, 'tool.called', '{"text": "done"}', now() from generate_series($5::int, $6::int) n`;
  await h.database.pool.query(insert, [taskId, h.userId, 0, conversationId, first, EVENTS]);
  await h.database.pool.query(insert, [other.taskId, h.userId, 1, other.conversationId, first, EVENTS]);
  await h.database.pool.query('update vitto_tasks set seq = $1', [EVENTS]);
  await h.database.pool.query('vacuum analyze vitto_task_events, vitto_tasks');
});
afterAll(() => h.drop());

/** Blocks that the query which `read` makes touches, by the database's own account. */
async function countBlocks(read: (sql: Sql) => Promise<unknown>): Promise<number> {
  let blocks = 0;
  const explaining = {
    query: async (text: string, values: unknown[]) => {
      const result = await h.database.pool.query(`explain (analyze, buffers, format json) ${text}`, values);
      const plan = (result.rows[0] as { 'QUERY PLAN': { Plan: Record<string, number> }[] })['QUERY PLAN'][0]
        ?.Plan;
      blocks += (plan?.['Shared Hit Blocks'] ?? 0) + (plan?.['Shared Read Blocks'] ?? 0);
      return { rows: [] };
    },
  };
  await read(explaining as unknown as Sql);
  expect(blocks).toBeGreaterThan(0);
  return blocks;
}

it('goes on in a long task after a position without walking what is before it', async () => {
  for (const seq of [10, EVENTS / 2, EVENTS - 3]) {
    const read = (sql: Sql) => readTaskEventsAfterPosition(sql, h.userId, taskId, positionOf(seq), 5);
    const wanted = [1, 2, 3, 4, 5].map((step) => seq + step).filter((next) => next <= EVENTS);
    expect((await read(h.database.pool)).map((event) => event.seq)).toEqual(wanted);
    expect(await countBlocks(read)).toBeLessThan(120);
  }
});

it('goes on after a position that is another task\u2019s, from the beginning, and after the last', async () => {
  const read = async (after: number) =>
    (await readTaskEventsAfterPosition(h.database.pool, h.userId, taskId, after, 2)).map(
      (event) => event.seq,
    );
  expect(await read(positionOf(777) + 1)).toEqual([778, 779]);
  expect(await read(positionOf(777) - 1)).toEqual([777, 778]);
  expect(await read(0)).toEqual([1, 2]);
  expect(await read(positionOf(EVENTS))).toEqual([]);
  expect(await read(positionOf(EVENTS) + 1_000)).toEqual([]);
});

it('finds the one message of a conversation whose task did much', async () => {
  const read = (sql: Sql) => listMessages(sql, h.userId, conversationId, null, 50);
  expect((await read(h.database.pool)).map((message) => message.text)).toEqual(['a long task']);
  expect(await countBlocks(read)).toBeLessThan(30);
});
