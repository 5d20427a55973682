import type { EventEnvelope, NewEvent } from '@vitto/contracts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '../../kernel/ids.ts';
import { readTaskEventsAfterPosition, readTaskSteps } from '../../runs/index.ts';
import { createClient, type Answer } from './testing/api-client.ts';
import { createHttpTestbed, type HttpTestbed } from './testing/http-testbed.ts';

const EVENTS = 100_000;
/** Every tenth event is a step; the others are deltas. */
const STEPS = EVENTS / 10;

let bed: HttpTestbed;
let owner: (path: string) => Promise<Answer>;
let taskId: string;
beforeAll(async () => {
  bed = await createHttpTestbed();
  owner = createClient((await bed.startServer()).url, bed.owner.token);
  taskId = await bed.createTask(bed.owner.userId);
  for (let from = 1; from <= EVENTS; from += 10_000) {
    await bed.append(
      taskId,
      Array.from({ length: 10_000 }, (_, index) => eventOf(from + index)),
    );
  }
  await bed.database.pool.query('vacuum analyze vitto_task_events');
});
afterAll(() => bed.close());

function eventOf(seq: number): NewEvent {
  if (seq % 10 !== 0) return { type: 'agent.text', payload: { turn: 1, attempt: 1, delta: `${seq} ` } };
  return { type: 'checkpoint.saved', payload: { iteration: seq } };
}

const seqsOf = (answer: Answer) => (answer.json['items'] as EventEnvelope[]).map((event) => event.seq);

async function walk(order: 'asc' | 'desc'): Promise<number[]> {
  const seqs: number[] = [];
  let cursor: number | null = null;
  do {
    const after: string = cursor === null ? '' : `&cursor=${cursor}`;
    const answer = await owner(`/api/tasks/${taskId}/steps?order=${order}&limit=500${after}`);
    seqs.push(...seqsOf(answer));
    cursor = answer.json['nextCursor'] as number | null;
  } while (cursor !== null);
  return seqs;
}

it('gives the steps of 100,000 events once each, from either end', async () => {
  const steps = Array.from({ length: STEPS }, (_, index) => (index + 1) * 10);
  expect(await walk('asc')).toEqual(steps);
  expect(await walk('desc')).toEqual(steps.toReversed());
});

it('opens at the newest, says how long the journal is, and where the stream goes on', async () => {
  const answer = await owner(`/api/tasks/${taskId}/steps?order=desc&limit=3`);
  expect(seqsOf(answer)).toEqual([EVENTS, EVENTS - 10, EVENTS - 20]);
  expect(answer.json).toMatchObject({ lastSeq: EVENTS, lastPosition: EVENTS, nextCursor: EVENTS - 20 });
});

it('jumps into the middle, and past the ends to nothing', async () => {
  const steps = (query: string) => owner(`/api/tasks/${taskId}/steps?${query}`);
  expect(seqsOf(await steps('cursor=50005&limit=2'))).toEqual([50_010, 50_020]);
  expect(seqsOf(await steps('cursor=50005&limit=2&order=desc'))).toEqual([50_000, 49_990]);
  expect((await steps('cursor=999999999999')).json).toMatchObject({ items: [], nextCursor: null });
  expect((await steps('cursor=1&order=desc')).json).toMatchObject({ items: [], nextCursor: null });
});

it('pages the raw events by position, without a gap', async () => {
  let after = 0;
  let seq = 0;
  while (seq < EVENTS) {
    const answer = await owner(`/api/tasks/${taskId}/events?after=${after}&limit=1000`);
    const seqs = seqsOf(answer);
    expect(seqs).toEqual(Array.from({ length: 1_000 }, (_, index) => seq + index + 1));
    seq += seqs.length;
    after = answer.json['lastPosition'] as number;
  }
});

it('reads pages of both by index, wherever they begin', async () => {
  const { userId } = bed.owner;
  for (const cursor of [10, EVENTS / 2, EVENTS - 1_000]) {
    for (const order of ['asc', 'desc'] as const) {
      const steps = await countBlocks((sql) =>
        readTaskSteps(sql, { userId, taskId, lastPosition: EVENTS }, { cursor, order, limit: 50 }),
      );
      expect(steps).toBeLessThan(150);
    }
    const raw = await countBlocks((sql) => readTaskEventsAfterPosition(sql, userId, taskId, cursor, 50));
    expect(raw).toBeLessThan(150);
  }
});

it("shows nobody else's", async () => {
  const stranger = createClient((await bed.startServer()).url, bed.stranger.token);
  expect((await stranger(`/api/tasks/${taskId}/steps`)).status).toBe(404);
  expect((await owner(`/api/tasks/${newId()}/steps`)).status).toBe(404);
});

type Sql = Parameters<typeof readTaskSteps>[0];

/** Blocks that the query which `read` makes touches, by the database's own account. */
async function countBlocks(read: (sql: Sql) => Promise<unknown>): Promise<number> {
  let blocks = 0;
  const query = async (text: string, values: unknown[]) => {
    const result = await bed.database.pool.query(`explain (analyze, buffers, format json) ${text}`, values);
    const [plan] = (result.rows[0] as { 'QUERY PLAN': { Plan: Record<string, number> }[] })['QUERY PLAN'];
    blocks += (plan?.Plan['Shared Hit Blocks'] ?? 0) + (plan?.Plan['Shared Read Blocks'] ?? 0);
    return { rows: [] };
  };
  await read({ query } as unknown as Sql);
  expect(blocks).toBeGreaterThan(0);
  return blocks;
}
