import { afterEach, expect, it } from 'vitest';
import { createRunHarness, functionModel, turn, type RunHarness } from '../testing/run-harness.ts';
import { takeTask } from '../take-task.ts';

const open: RunHarness[] = [];
afterEach(async () => {
  for (const h of open.splice(0)) await h.drop();
});

/** A parent that waits for two sub-Vittos, of which none has begun. */
async function deployTwo() {
  const tasks = [{ description: 'one' }, { description: 'two' }];
  const model = functionModel(() => turn({ calls: [{ id: 'd1', tool: 'deploy_agents', args: { tasks } }] }));
  const h = await createRunHarness({ models: [model] });
  open.push(h);
  const { taskId } = await h.start('root');
  await h.run(taskId);
  const children = await h.database.pool.query<{ id: string }>(
    'select id from vitto_tasks where parent_id = $1 order by index',
    [taskId],
  );
  const [one = '', two = ''] = children.rows.map((row) => row.id);
  return { h, taskId, one, two };
}

/** Does `work` while another transaction holds what `lock` takes; what waits for it never comes to an end. */
async function whileHeld<T>(h: RunHarness, lock: [string, unknown[]], work: () => Promise<T>): Promise<T> {
  const other = await h.database.pool.connect();
  try {
    await other.query('begin');
    await other.query(...lock);
    return await work();
  } finally {
    await other.query('rollback');
    other.release();
  }
}

it('begins while a sibling writes to the row of their parent', async () => {
  const { h, taskId, one } = await deployTwo();
  const lock: [string, unknown[]] = ['select 1 from vitto_tasks where id = $1 for no key update', [taskId]];
  const taken = await whileHeld(h, lock, () => takeTask(h.runs, one, 'worker-2'));
  expect(taken).toMatchObject({ id: one, state: 'running' });
});

it('does not wait for the lock of places when it runs already, and is not taken twice', async () => {
  const { h, one, two } = await deployTwo();
  await takeTask(h.runs, one, 'worker-1');
  const lock: [string, unknown[]] = [
    "select pg_advisory_xact_lock(hashtextextended('sub-vittos ' || $1, 0))",
    [h.userId],
  ];
  expect(await whileHeld(h, lock, () => takeTask(h.runs, one, 'worker-2'))).toBeNull();
  expect(await takeTask(h.runs, two, 'worker-2')).toMatchObject({ id: two, state: 'running' });
});

it('goes to another worker when its own was lost', async () => {
  const { h, one } = await deployTwo();
  await takeTask(h.runs, one, 'worker-1');
  await h.database.pool.query(
    "update vitto_tasks set lease_until = clock_timestamp() - interval '1 second' where id = $1",
    [one],
  );
  expect(await takeTask(h.runs, one, 'worker-2')).toMatchObject({ id: one, state: 'running', fence: 2 });
});
