import { readFile } from 'node:fs/promises';
import type { NewEvent } from '@vitto/contracts';
import { afterAll, expect, it } from 'vitest';
import { createHttpTestbed } from './testing/http-testbed.ts';
import { updateSettings } from '../../identity/index.ts';
import { newId } from '../../kernel/ids.ts';
import { readDailyUsage, readDearestTasks, readSubVittoCosts } from '../../engine/index.ts';

const bed = await createHttpTestbed();
const { pool } = bed.database;
afterAll(() => bed.close());
const EVER = { from: '0001-01-01', to: '9999-12-31' };

const turn = (costUsd: number | null, model = 'test/a'): NewEvent => ({
  type: 'agent.turn_completed',
  payload: {
    turn: 1,
    attempt: 1,
    model,
    message: { role: 'assistant', content: [{ type: 'text', text: 'x' }] },
    finishReason: 'stop',
    usage: {
      inputTokens: 100,
      cachedInputTokens: 60,
      cacheWriteTokens: 0,
      outputTokens: 10,
      reasoningTokens: 0,
    },
    costUsd,
    durationMs: 1,
  },
});

it('sums turns up by model as they are journaled, the unpriced apart', async () => {
  const task = await bed.createTask(bed.owner.userId);
  await bed.append(task, [turn(0.000_000_001), turn(null), turn(0.25, 'test/b')]);
  await bed.append(task, [turn(0.5)]);
  const rows = await readDailyUsage(pool, bed.owner.userId, EVER);
  expect(rows.map(({ day: _, ...row }) => row)).toEqual([
    {
      model: 'test/a',
      turns: 3,
      inputTokens: 300,
      cachedInputTokens: 180,
      outputTokens: 30,
      costNano: 500_000_001,
      unpricedTurns: 1,
    },
    expect.objectContaining({ model: 'test/b', turns: 1, costNano: 250_000_000, unpricedTurns: 0 }),
  ]);
  expect(await readDailyUsage(pool, bed.stranger.userId, EVER)).toEqual([]);
});

it('loses no turn when tasks of one user write side by side', async () => {
  const user = bed.stranger.userId;
  const tasks = await Promise.all(Array.from({ length: 4 }, () => bed.createTask(user)));
  const writes = tasks.flatMap((task) => Array.from({ length: 10 }, () => bed.append(task, [turn(0.01)])));
  await Promise.all(writes);
  const [row] = await readDailyUsage(pool, user, EVER);
  expect(row).toMatchObject({ turns: 40, costNano: 400_000_000 });
});

it.each([
  ['2026-03-28T23:30:00Z', 'Europe/Madrid', '2026-03-29'],
  ['2026-03-29T22:30:00Z', 'Europe/Madrid', '2026-03-30'],
  ['2026-10-25T22:30:00Z', 'Europe/Madrid', '2026-10-25'],
  ['2026-01-01T03:00:00Z', 'America/New_York', '2025-12-31'],
  ['2026-01-01T20:00:00Z', '+05:30', '2026-01-02'],
  ['2026-01-01T20:00:00Z', 'Not/AZone', '2026-01-01'],
  ['2026-01-01T20:00:00Z', '+99:99', '2026-01-01'],
  ['2026-01-01T20:00:00Z', null, '2026-01-01'],
])('takes %s in the zone %s for the day %s', async (at, zone, day) => {
  const client = await pool.connect();
  await client.query("set timezone = 'Pacific/Kiritimati'");
  const result = await client.query('select vitto_day_in($1, $2) as day', [at, zone]);
  client.release(true);
  expect(result.rows).toEqual([{ day }]);
});

it("books on the user's own day, and a zone that is none never stops the journal", async () => {
  const id = newId();
  await pool.query("insert into vitto_users (id, name, role) values ($1, 'Zoe', 'member')", [id]);
  const days = async () => (await readDailyUsage(pool, id, EVER)).map((row) => row.day);
  await updateSettings(bed.database, id, { timeZone: 'Pacific/Kiritimati' });
  const task = await bed.createTask(id);
  await bed.append(task, [turn(1)]);
  const today = (zone: string) =>
    new Intl.DateTimeFormat('en-CA', { timeZone: zone, dateStyle: 'short' }).format(Date.now());
  expect(await days()).toEqual([today('Pacific/Kiritimati')]);
  await pool.query(
    `update vitto_user_settings set settings = '{"timeZone":"Not/AZone"}' where user_id = $1`,
    [id],
  );
  await bed.append(task, [turn(1)]);
  expect(await days()).toContain(today('UTC'));
});

it('was summed up the same way for what was journaled before it was kept', async () => {
  const id = newId();
  await pool.query("insert into vitto_users (id, name, role) values ($1, 'Old', 'member')", [id]);
  const task = await bed.createTask(id);
  await bed.append(task, [turn(0.125), turn(null), turn(3, 'test/b')]);
  const kept = await readDailyUsage(pool, id, EVER);
  const migration = await readFile(
    new URL('../../../migrations/0009_daily_usage.sql', import.meta.url),
    'utf8',
  );
  await pool.query('truncate vitto_daily_usage');
  await pool.query(migration.split('--> statement-breakpoint').at(-1) ?? '');
  expect(await readDailyUsage(pool, id, EVER)).toEqual(kept);
});

it('stays when the conversation of the turns is deleted', async () => {
  const task = await bed.createTask(bed.owner.userId);
  await bed.append(task, [turn(1)]);
  const before = await readDailyUsage(pool, bed.owner.userId, EVER);
  await pool.query('delete from vitto_tasks where id = $1', [task]);
  expect(await readDailyUsage(pool, bed.owner.userId, EVER)).toEqual(before);
});

it('finds the dearest tasks by what each spent itself, not its children', async () => {
  const id = newId();
  await pool.query("insert into vitto_users (id, name, role) values ($1, 'Kim', 'member')", [id]);
  const parent = await bed.createTask(id);
  const child = await bed.createTask(id);
  await pool.query(
    "update vitto_tasks set parent_id = $1, root_id = $1, depth = 1, kind = 'subvitto', role = 'tester' where id = $2",
    [parent, child],
  );
  const spend = (task: string, tokens: number, cost: number, isKnown = true) =>
    pool.query('update vitto_tasks set tokens = $2, cost_nano = $3, is_cost_known = $4 where id = $1', [
      task,
      tokens,
      cost,
      isKnown,
    ]);
  await spend(parent, 1_000, 900);
  await pool.query('update vitto_tasks set below_tokens = 800, below_cost_nano = 700 where id = $1', [
    parent,
  ]);
  await spend(child, 800, 700);
  const unpriced = await bed.createTask(id);
  await spend(unpriced, 50, 0, false);
  const idle = await bed.createTask(id);
  const found = await readDearestTasks(pool, id, { ...EVER, timeZone: 'UTC' }, 50);
  expect(found.map(({ taskId, tokens, costNano }) => [taskId, tokens, costNano])).toEqual([
    [child, 800, 700],
    [parent, 200, 200],
    [unpriced, 50, null],
  ]);
  expect(found.some((task) => task.taskId === idle)).toBe(false);
  expect(found[0]).toMatchObject({ role: 'tester', parentTaskId: parent, rootTaskId: parent });
  expect(await readSubVittoCosts(pool, id, { ...EVER, timeZone: 'UTC' })).toEqual([
    { role: 'tester', runs: 1, succeeded: 0, failed: 0, tokens: 800, costNano: 700 },
  ]);
});

it('reads through indexes, however much others have used', async () => {
  await pool.query(`insert into vitto_users (id, name, role)
    select gen_random_uuid(), 'u' || i, 'member' from generate_series(1, 200) i`);
  await pool.query(`insert into vitto_daily_usage (user_id, day, model)
    select id, (date '2026-01-01' + d)::text, 'm' from vitto_users, generate_series(0, 99) d on conflict do nothing`);
  await pool.query(`insert into vitto_tasks (id, user_id, root_id, depth, kind, title, state, complexity, estimated_duration,
      max_iterations, ended_at)
    select gen_random_uuid(), id, id, 0, 'chat', 't', 'completed', 'simple', 'short', 1, now()
    from vitto_users, generate_series(1, 50)`);
  await pool.query('analyze vitto_daily_usage, vitto_tasks');
  const plans: string[] = [];
  const explaining = {
    query: async (text: string, values: unknown[]) => {
      const plan = await pool.query(`explain ${text}`, values);
      plans.push(plan.rows.map((row: Record<string, string>) => row['QUERY PLAN']).join('\n'));
      return plan;
    },
  } as unknown as typeof pool;
  await readDailyUsage(explaining, bed.owner.userId, { from: '2026-01-01', to: '2026-01-31' });
  const year = { from: '2026-01-01', to: '2026-12-31', timeZone: 'UTC' };
  await readDearestTasks(explaining, bed.owner.userId, year, 50);
  await readSubVittoCosts(explaining, bed.owner.userId, year);
  for (const plan of plans) expect(plan).not.toContain('Seq Scan');
});
