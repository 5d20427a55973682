import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { afterEach, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../engine/index.ts';
import { createRunHarness, functionModel, turn, type RunHarness } from '../testing/run-harness.ts';
import { workOff } from '../testing/work-off.ts';

const open: RunHarness[] = [];
afterEach(async () => {
  for (const h of open.splice(0)) await h.drop();
});

const textOf = (options: LanguageModelV4CallOptions) => JSON.stringify(options.prompt);
function taskOf(options: LanguageModelV4CallOptions): string {
  const part = options.prompt.find((message) => message.role === 'user')?.content[0];
  return typeof part === 'object' && part.type === 'text' ? part.text : '';
}
const deploy = (description: string, id: string) =>
  turn({ calls: [{ id, tool: 'deploy_agents', args: { tasks: [{ description }] } }] });

it('never lets depth 2 have more than was set with an earlier round, whatever is spent while another is planned', async () => {
  const model = functionModel((request) => {
    const [task, text] = [taskOf(request), textOf(request)];
    if (task === 'root') return text.includes('"d1"') ? turn({ text: 'ok' }) : deploy('middle', 'd1');
    if (task !== 'middle') return turn({ text: 'done' });
    if (!text.includes('"m1"')) return deploy('leaf', 'm1');
    return text.includes('"m2"') ? turn({ text: 'ok' }) : deploy('other leaf', 'm2');
  });
  const h = await createRunHarness({ models: [model] });
  open.push(h);
  const limits: number[] = [];
  const { resolveModels } = h.tasks;
  h.tasks.resolveModels = async (task, settings) => {
    // Those of sub-Vittos are asked for between the reckoning of a round and its write.
    if (!('id' in task)) {
      const spent = await h.database.pool.query<{ limit: number | null }>(
        `update vitto_tasks set tokens = tokens + 9000, below_tokens = below_tokens + 9000 where title = 'middle'
         returning below_max_tokens::int as limit`,
      );
      for (const { limit } of spent.rows) limits.push(limit ?? 0);
    }
    return resolveModels(task, settings);
  };
  const { taskId } = await h.start('root');
  if (!h.woken.includes(taskId)) h.woken.push(taskId);
  await workOff(h);
  const found = await h.database.pool.query<{ limit: number }>(
    "select below_max_tokens::int as limit from vitto_tasks where title = 'middle'",
  );
  expect(limits).toHaveLength(2);
  expect(limits[1]).toBeGreaterThan(0);
  expect(found.rows[0]?.limit).toBeLessThanOrEqual(limits[1] ?? 0);
});

it('locks the day before the position when a task ends, as every other write does', async () => {
  const other: { query: (text: string) => Promise<unknown>; release: () => void }[] = [];
  let holder = 0;
  const hold = defineTool({
    name: 'hold',
    description: 'Holds the day.',
    input: z.object({}),
    domain: 'knowledge',
    risk: 'read',
    tier: 'in-process',
    idempotency: 'pure',
    timeoutMs: 5_000,
    run: async () => {
      const client = await h.database.pool.connect();
      other.push(client);
      await client.query('begin');
      const held = await client.query<{ pid: number }>(
        'select pg_backend_pid() as pid from vitto_daily_spending for update',
      );
      holder = held.rows[0]?.pid ?? 0;
      return { status: 'ok', text: 'held' };
    },
  });
  const calls = [
    { id: 'c1', tool: 'hold', args: {} },
    { id: 'c2', tool: 'task_complete', args: { report: 'done', success: true } },
  ];
  const price = { input: 10, cachedInput: 10, cacheWrite: 10, output: 30 };
  const model = functionModel(() => turn({ calls }), { price });
  const h = await createRunHarness({ models: [model], tools: [hold] });
  open.push(h);
  const { taskId } = await h.start('root');
  const run = h.run(taskId);
  /** The end of the task waits for who holds the day. */
  const isWaiting = async () => {
    const found = await h.database.pool.query(
      'select 1 from pg_stat_activity where $1 = any(pg_blocking_pids(pid))',
      [holder],
    );
    return found.rowCount === 1;
  };
  while (!(await isWaiting())) await h.tasks.clock.sleep(10, new AbortController().signal);
  const [client] = other;
  try {
    await client?.query("set local lock_timeout = '200ms'");
    await expect(client?.query('select 1 from vitto_journal_positions for update')).resolves.toBeDefined();
  } finally {
    await client?.query('rollback');
    client?.release();
  }
  await run;
  expect(await h.task(taskId)).toMatchObject({ state: 'completed' });
});
