import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { z } from 'zod';
import { afterEach, expect, it } from 'vitest';
import { defineTool } from '../../engine/index.ts';
import { createRunHarness, functionModel, turn, type RunHarness } from '../testing/run-harness.ts';
import { workOff } from '../testing/work-off.ts';

type Options = Parameters<typeof createRunHarness>[0];
const open: RunHarness[] = [];
afterEach(async () => {
  for (const h of open.splice(0)) await h.drop();
});

let looked = 0;
/** Gives something new each time, so that nobody is taken for stuck. */
const look = defineTool({
  name: 'look',
  description: 'Looks.',
  input: z.object({ n: z.number() }),
  domain: 'knowledge',
  risk: 'read',
  tier: 'in-process',
  idempotency: 'pure',
  timeoutMs: 1_000,
  run: () => Promise.resolve({ status: 'ok', text: `seen ${(looked += 1)}` }),
});

function taskOf(options: LanguageModelV4CallOptions): string {
  const first = options.prompt.find((message) => message.role === 'user');
  const part = first?.content[0];
  return typeof part === 'object' && part.type === 'text' ? part.text : '';
}
const deploy = (tasks: object[], tokens: [number, number]) =>
  turn({ calls: [{ id: 'd1', tool: 'deploy_agents', args: { tasks } }], tokens });
const isRead = (request: LanguageModelV4CallOptions) =>
  JSON.stringify(request.prompt).includes('tool-result');
const many = (count: number, name = 'leaf') =>
  Array.from({ length: count }, (_, n) => ({ description: `${name} ${n}`, tools: ['look'] }));

/** What each task has spent and may spend, as the database has it. */
async function rows(h: RunHarness) {
  const result = await h.database.pool.query(
    `select title, depth, tokens::int, reserved_tokens::int as reserved, max_tokens::int as max, below_tokens::int as below,
       below_max_tokens::int as "belowMax", cost_nano::float8 as cost, max_cost_nano::float8 as "maxCost",
       below_cost_nano::float8 as "belowCost", below_max_cost_nano::float8 as "belowMaxCost",
       max_iterations as iterations, max_duration_ms::int as duration, state, error->>'code' as code
     from vitto_tasks order by depth, id`,
  );
  return result.rows as Record<string, number | string | null>[];
}

/** Looks after each commit whether a cap is passed by what is spent and reserved together: it must never be. */
async function guardCaps(h: RunHarness) {
  await h.database.pool.query(`
    create function over() returns trigger language plpgsql as $$ begin
      if new.tokens + new.reserved_tokens > new.max_tokens or new.cost_nano + new.reserved_cost_nano > new.max_cost_nano
        or new.below_tokens + new.below_reserved_tokens > new.below_max_tokens
        or new.below_cost_nano + new.below_reserved_cost_nano > new.below_max_cost_nano
      then raise exception 'a cap was passed: %', row_to_json(new); end if;
      return new; end $$;
    create trigger over after update on vitto_tasks for each row execute function over()`);
}

async function begin(
  options: Options,
  answer: Parameters<typeof functionModel>[0],
  price: object | null = null,
) {
  const model = functionModel(answer, { maxOutputTokens: 1_200, price: price as never });
  const h = await createRunHarness({ models: [model], tools: [look], ...options });
  open.push(h);
  await guardCaps(h);
  const start = async () => {
    const { taskId } = await h.start('root');
    if (!h.woken.includes(taskId)) h.woken.push(taskId);
    return taskId;
  };
  return { h, start };
}

it('lets all at depth 2 together use half of what their parent had left, however many they are', async () => {
  const { h, start } = await begin({ subVittos: { maxParallel: 10 } }, (request) => {
    const task = taskOf(request);
    // The middle one has spent 40,000 of its 100,000 when it deploys.
    if (task === 'root')
      return isRead(request) ? turn({ text: 'ok' }) : deploy([{ description: 'middle' }], [100, 20]);
    if (task === 'middle') return isRead(request) ? turn({ text: 'ok' }) : deploy(many(6), [39_000, 1_000]);
    looked += 1;
    return turn({ calls: [{ id: `l${looked}`, tool: 'look', args: { n: looked } }], tokens: [900, 300] });
  });
  h.runs.maxSubVittos = 10;
  await start();
  await workOff(h, 10);
  const [root, middle, ...leaves] = await rows(h);
  expect(middle).toMatchObject({ belowMax: 30_000 });
  expect(Number(middle?.['below'])).toBeLessThanOrEqual(30_000);
  expect(Number(middle?.['below'])).toBeGreaterThan(20_000);
  expect(leaves).toHaveLength(6);
  expect(leaves.every((leaf) => String(leaf['code']).startsWith('budget.'))).toBe(true);
  const sum = leaves.reduce((total, leaf) => total + Number(leaf['tokens']), 0);
  expect(middle).toMatchObject({ state: 'completed', below: sum, reserved: 0 });
  expect(root).toMatchObject({ state: 'completed', below: Number(middle?.['tokens']) });
});

it('admits five with 100,000 each of 500,000: each stops at its own, all together at the root\u2019s', async () => {
  const { h, start } = await begin({ subVittos: { budgets: budgetsOf(1_000, 100_000) } }, (request) => {
    const task = taskOf(request);
    if (task === 'root') return isRead(request) ? turn({ text: 'ok' }) : deploy(many(5), [100, 20]);
    looked += 1;
    // One of them does little: what it leaves, the others do not get, for each has its own cap.
    const tokens: [number, number] = task === 'leaf 0' ? [500, 100] : [19_000, 1_000];
    if (task === 'leaf 0' && looked % 2 === 0) return turn({ text: 'done', tokens });
    return turn({ calls: [{ id: `l${looked}`, tool: 'look', args: { n: looked } }], tokens });
  });
  await start();
  await workOff(h, 5);
  const [root, ...leaves] = await rows(h);
  expect(leaves.map((leaf) => leaf['max'])).toEqual([100_000, 100_000, 100_000, 100_000, 100_000]);
  for (const leaf of leaves) expect(Number(leaf['tokens'])).toBeLessThanOrEqual(100_000);
  expect(Number(root?.['tokens'])).toBeLessThanOrEqual(500_000);
  expect(root).toMatchObject({ state: 'completed', reserved: 0 });
});

it('keeps a money cap over three levels, to the billionth, and the root can still close', async () => {
  const price = { input: 10, cachedInput: 10, cacheWrite: 10, output: 30 };
  const { h, start } = await begin(
    { rootBudget: { maxCostUsd: 1 }, subVittos: { maxParallel: 10 } },
    (request) => {
      const task = taskOf(request);
      if (task === 'root')
        return isRead(request)
          ? turn({ text: 'closing', tokens: [900, 100] })
          : deploy(many(3, 'middle'), [1_000, 100]);
      if (task.startsWith('middle'))
        return isRead(request) ? turn({ text: 'ok', tokens: [900, 100] }) : deploy(many(3), [1_000, 100]);
      looked += 1;
      return turn({ calls: [{ id: `l${looked}`, tool: 'look', args: { n: looked } }], tokens: [2_000, 300] });
    },
    price,
  );
  h.runs.maxSubVittos = 10;
  await start();
  await workOff(h, 10);
  const [root] = await rows(h);
  expect(Number(root?.['cost'])).toBeLessThanOrEqual(1e9);
  expect(root).toMatchObject({ reserved: 0 });
  const own = await h.database.pool.query<{ cost: number; own: number }>(
    'select sum(cost_nano - below_cost_nano)::float8 as own, max(cost_nano) filter (where depth = 0)::float8 as cost from vitto_tasks',
  );
  expect(own.rows[0]?.own).toBe(own.rows[0]?.cost);
});

it('gives depth 2 half of the steps that are left, and parts of half the time', async () => {
  const { h, start } = await begin(
    { rootBudget: { maxDurationMs: 600_000 }, subVittos: { budgets: budgetsOf(10, 100_000) } },
    (request) => {
      const task = taskOf(request);
      if (task === 'root')
        return isRead(request) ? turn({ text: 'ok' }) : deploy([{ description: 'middle' }], [100, 20]);
      if (task === 'middle') return isRead(request) ? turn({ text: 'ok' }) : deploy(many(4), [100, 20]);
      return turn({ text: 'done' });
    },
  );
  await start();
  await workOff(h);
  const [, middle, ...leaves] = await rows(h);
  expect(Number(middle?.['duration'])).toBeGreaterThan(500_000);
  expect(leaves.map((leaf) => leaf['iterations'])).toEqual([4, 4, 4, 4]);
  const given = leaves.reduce((sum, leaf) => sum + Number(leaf['duration']), 0);
  expect(given).toBeLessThanOrEqual(Number(middle?.['duration']) / 2);
  expect(given).toBeGreaterThan(Number(middle?.['duration']) / 2 - 5_000);
});

it('refuses sub-Vittos of a model without a price under a money cap', async () => {
  const unpriced = functionModel(() => turn({ text: 'x' }), { id: 'test/unpriced', price: null });
  const price = { input: 10, cachedInput: 10, cacheWrite: 10, output: 30 };
  const { h, start } = await begin(
    { rootBudget: { maxCostUsd: 1 }, subVittoModels: [unpriced] },
    (request) => (isRead(request) ? turn({ text: 'ok' }) : deploy(many(1), [100, 20])),
    price,
  );
  const id = await start();
  await workOff(h);
  const called = (await h.events(id)).find((event) => event.type === 'tool.called');
  expect(called?.payload).toMatchObject({
    status: 'error',
    text: expect.stringContaining('no price known for test/unpriced'),
  });
});

it('holds the cap when a worker dies in the middle of a call, and books what it had sent', async () => {
  const controller = new AbortController();
  let deaths = 0;
  const { h, start } = await begin(
    { rootBudget: { maxTokens: 60_000 }, subVittos: { maxParallel: 1 } },
    async (request) => {
      const task = taskOf(request);
      if (task === 'root') return isRead(request) ? turn({ text: 'ok' }) : deploy(many(2), [100, 20]);
      if (task === 'leaf 0' && deaths === 0) {
        deaths += 1;
        controller.abort(new Error('the process is gone'));
        await new Promise(() => undefined);
      }
      looked += 1;
      return turn({ calls: [{ id: `l${looked}`, tool: 'look', args: { n: looked } }], tokens: [2_000, 900] });
    },
  );
  h.runs.maxSubVittos = 1;
  const id = await start();
  await h.run(id);
  const leaf = h.woken.filter((one) => one !== id).at(-1) ?? '';
  await expect(h.run(leaf, { signal: controller.signal, isDraining: () => false })).rejects.toThrow(
    'the process is gone',
  );
  const before = await rows(h);
  expect(Number(before[0]?.['reserved'])).toBeGreaterThan(0);
  await h.database.pool.query("update vitto_tasks set lease_until = now() - interval '1 s' where id = $1", [
    leaf,
  ]);
  h.woken.push(leaf);
  await workOff(h, 2, 'worker-2');
  await workOff(h, 2, 'worker-2');
  const after = await rows(h);
  expect(after[0]).toMatchObject({ reserved: 0 });
  expect(['completed', 'failed']).toContain(after[0]?.['state']);
  expect(Number(after[0]?.['tokens'])).toBeLessThanOrEqual(60_000);
});

it('lets those beside a call that has reserved all that is left wait for its answer, not end', async () => {
  const waited = Promise.withResolvers<void>();
  // An answer may be longer than what is left: whoever calls first holds all of it until then.
  const model = functionModel(
    async (request) => {
      const task = taskOf(request);
      if (task === 'root') return isRead(request) ? turn({ text: 'ok' }) : deploy(many(3), [1_000, 100]);
      if (isRead(request)) return turn({ text: 'done', tokens: [2_000, 100] });
      if (looked === 0) {
        looked += 1;
        await waited.promise;
      }
      return turn({ calls: [{ id: `l-${task}`, tool: 'look', args: { n: 1 } }], tokens: [1_000, 100] });
    },
    { maxOutputTokens: 64_000, price: null },
  );
  looked = 0;
  const h = await createRunHarness({ models: [model], tools: [look], rootBudget: { maxTokens: 60_000 } });
  open.push(h);
  await guardCaps(h);
  const { clock } = h.tasks;
  h.tasks.clock = {
    ...clock,
    sleep: (ms, signal) => {
      if (ms === 500) waited.resolve();
      return clock.sleep(ms, signal);
    },
  };
  const { taskId } = await h.start('root');
  if (!h.woken.includes(taskId)) h.woken.push(taskId);
  await workOff(h);
  const [root, ...leaves] = await rows(h);
  expect(leaves.map(({ state, code }) => [state, code])).toEqual(leaves.map(() => ['completed', null]));
  expect(leaves).toHaveLength(3);
  expect(root).toMatchObject({ state: 'completed', reserved: 0 });
});

function budgetsOf(maxIterations: number, maxTokens: number) {
  return { vm: { maxIterations, maxTokens }, other: { maxIterations, maxTokens } };
}
