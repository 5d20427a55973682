import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { cancelRun } from './index.ts';
import { takeTask } from './take-task.ts';
import { createRunHarness, type RunHarness } from './testing/run-harness.ts';
import {
  findForgottenTasks,
  findNextSubVittos,
  findLostLeases,
  parkTask,
  requeueTask,
} from '../engine/index.ts';

let h: RunHarness;
beforeAll(async () => {
  h = await createRunHarness({});
});
afterAll(() => h.drop());
beforeEach(() => h.database.pool.query('delete from vitto_tasks'));

const start = async () => (await h.start('work')).taskId;
const take = (id: string, worker: string) => takeTask(h.runs, id, worker);
const expire = (id: string) =>
  h.database.pool.query(
    `update vitto_tasks set running_since = now() - interval '60 seconds', lease_until = now() - interval '30 seconds' where id = $1`,
    [id],
  );

it('finds tasks whose owner was lost first, then the oldest that are queued, however many wait', async () => {
  await h.database.pool.query(
    `insert into vitto_tasks (id, user_id, root_id, depth, kind, title, state, complexity, estimated_duration, max_iterations, created_at)
     select id, $1, id, 0, 'chat', 't' || n, 'queued', 'simple', 'short', 50, now() - n * interval '1 second'
     from (select gen_random_uuid() as id, n from generate_series(1, 3000) n) as s`,
    [h.userId],
  );
  const lost = [];
  for (let index = 0; index < 5; index += 1) {
    const id = await start();
    await take(id, 'worker-1');
    await expire(id);
    lost.push(id);
  }
  const running = await start();
  await take(running, 'worker-1');
  await h.database.pool.query('vacuum analyze vitto_tasks');
  const found = await findForgottenTasks(h.database.pool, 5);
  expect(new Set(found.slice(0, 5))).toEqual(new Set(lost));
  expect(found).not.toContain(running);
  const oldest = await h.database.pool.query<{ id: string }>(
    "select id from vitto_tasks where title like 't%' order by substr(title, 2)::int desc limit 50",
  );
  expect(found.slice(5)).toEqual(oldest.rows.map((row) => row.id));
});

it('finds them by an index, without sorting what waits', async () => {
  const plans: string[] = [];
  const explaining = {
    query: async (text: string, values: unknown[]) => {
      const result = await h.database.pool.query(`explain (costs off) ${text}`, values);
      plans.push(result.rows.map((row) => (row as { 'QUERY PLAN': string })['QUERY PLAN']).join('\n'));
      return { rows: [] };
    },
  };
  await h.database.pool.query(
    `insert into vitto_tasks (id, user_id, root_id, depth, kind, title, state, complexity, estimated_duration, max_iterations, ended_at)
     select id, $1, id, 0, 'chat', 't', case when n % 3 = 0 then 'queued' else 'completed' end, 'simple', 'short', 50,
       case when n % 3 = 0 then null else now() end
     from (select gen_random_uuid() as id, n from generate_series(1, 9000) n) as s`,
    [h.userId],
  );
  await h.database.pool.query('vacuum analyze vitto_tasks');
  await findForgottenTasks(explaining as never, 5);
  expect(plans).toHaveLength(3);
  expect(plans[0]).toMatch(/Index Cond: .*lease_until/);
  expect(plans[1]).toContain('vitto_tasks_queued');
  for (const plan of plans) expect(plan).not.toMatch(/Seq Scan|Sort/);
});

it('keeps the running time of an owner that died, up to the end of its lease', async () => {
  const id = await start();
  await take(id, 'worker-1');
  await expire(id);
  await take(id, 'worker-2');
  const { durationMs } = (await h.task(id)).spending;
  expect(durationMs).toBeGreaterThanOrEqual(30_000);
  expect(durationMs).toBeLessThan(45_000);
});

it('books no more than the lease of a dead owner when its task is cancelled', async () => {
  const id = await start();
  await take(id, 'worker-1');
  await expire(id);
  const task = await cancelRun(h.runs, { userId: h.userId, taskId: id, by: 'test' });
  expect(task.spending.durationMs).toBeGreaterThanOrEqual(29_990);
  expect(task.spending.durationMs).toBeLessThan(45_000);
});

it('tells which leases were lost, whatever has become of the tasks since', async () => {
  const [held, parkedHere, taken, parkedThere, queuedThere, cancelled, deleted, neverMine] =
    await Promise.all(Array.from({ length: 8 }, start));
  const ids = [held, parkedHere, taken, parkedThere, queuedThere, cancelled, deleted, neverMine] as string[];
  const waitingFor = { kind: 'input', question: 'what?' } as never;
  for (const id of ids.slice(0, 7)) await take(id, 'worker-1');
  const own = await h.task(ids[1] as string);
  expect(
    await parkTask(
      h.database.pool,
      { taskId: own.id, fence: 1, seq: own.lastSeq },
      'waiting_input',
      waitingFor,
    ),
  ).toBe(true);
  for (const id of ids.slice(2, 5)) {
    await expire(id);
    expect(await take(id, 'worker-2')).toMatchObject({ fence: 2 });
  }
  const there = await h.task(ids[3] as string);
  await parkTask(
    h.database.pool,
    { taskId: there.id, fence: 2, seq: there.lastSeq },
    'waiting_input',
    waitingFor,
  );
  await requeueTask(h.database.pool, { taskId: ids[4] as string, fence: 2 });
  await cancelRun(h.runs, { userId: h.userId, taskId: ids[5] as string, by: 'test' });
  await h.database.pool.query('delete from vitto_tasks where id = $1', [deleted]);
  const lost = await findLostLeases(h.database.pool, 'worker-1', ids);
  expect(new Set(lost)).toEqual(new Set([taken, parkedThere, queuedThere, cancelled, deleted]));
});

it('finds who is next in line by an index, however many stand in it', async () => {
  const root = await start();
  await h.database.pool.query(
    `insert into vitto_tasks (id, user_id, root_id, parent_id, depth, kind, title, state, complexity, estimated_duration, max_iterations,
       round, index, lease_holder, lease_until)
     select gen_random_uuid(), $1, r.id, r.id, 1, 'subvitto', 'sub ' || n, case when n <= 3 then 'running' else 'queued' end,
       'simple', 'short', 10, 1, n, case when n <= 3 then 'w' end, case when n <= 3 then now() + interval '1 hour' end
     from (select id from vitto_tasks limit 1) as r, generate_series(1, 5000) n`,
    [h.userId],
  );
  await h.database.pool.query('vacuum analyze vitto_tasks');
  const next = await findNextSubVittos(h.database.pool, h.userId, 5);
  expect(next).toHaveLength(2);
  expect(await findForgottenTasks(h.database.pool, 5)).toEqual([root, ...next]);
  const plans: string[] = [];
  const explaining = {
    query: async (text: string, values: unknown[]) => {
      const result = await h.database.pool.query(`explain (costs off) ${text}`, values);
      plans.push(result.rows.map((row) => (row as { 'QUERY PLAN': string })['QUERY PLAN']).join('\n'));
      return { rows: [] };
    },
  };
  await findNextSubVittos(explaining as never, h.userId, 5);
  expect(plans[0]).toContain('vitto_tasks_in_line');
  expect(plans[0]).toContain('vitto_tasks_places');
  expect(plans[0]).not.toMatch(/Seq Scan|Sort/);
});
