import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { EventEnvelope } from '@vitto/contracts';
import { defineTool } from '../engine/index.ts';
import { createRunHarness, functionModel, turn, type RunHarness } from './testing/run-harness.ts';

const PRICE = { input: 10, cachedInput: 1, cacheWrite: 10, output: 100 };
const types = (events: EventEnvelope[]) => events.map((event) => event.type);
const payloads = (events: EventEnvelope[], type: string) =>
  events.filter((event) => event.type === type).map((event) => event.payload);

let counter = 0;
const count = defineTool({
  name: 'count',
  description: 'Counts.',
  input: z.object({ n: z.number().optional() }),
  domain: 'system',
  risk: 'read',
  tier: 'in-process',
  idempotency: 'pure',
  timeoutMs: 5_000,
  run: () => Promise.resolve({ status: 'ok', text: `now ${(counter += 1)}` }),
});
const same = defineTool({
  ...count,
  name: 'same',
  run: () => Promise.resolve({ status: 'ok', text: 'still running' }),
} as never);
const other = defineTool({
  ...count,
  name: 'other',
  run: () => Promise.resolve({ status: 'error', text: 'no such file' }),
} as never);

describe('the guards of a run', () => {
  let h: RunHarness;
  beforeAll(async () => {
    h = await createRunHarness({ tools: [count, same, other] });
  });
  afterAll(() => h.drop());

  const runWith = async (
    model: ReturnType<typeof functionModel>,
    more: Parameters<RunHarness['start']>[1] = {},
  ) => {
    h.setModels([model]);
    const { taskId } = await h.start('work', more);
    const end = await h.run(taskId);
    return { end, taskId, events: await h.events(taskId), task: await h.task(taskId) };
  };
  let id = 0;
  const call = (tool: string, args: unknown = {}, text?: string) =>
    turn({ ...(text === undefined ? {} : { text }), calls: [{ id: `c${(id += 1)}`, tool, args }] });

  it('tells a model that repeats a failing call with other prose once, then stops with what was tried', async () => {
    let n = 0;
    const { end, events } = await runWith(
      functionModel(() => call('other', { n: 1 }, `Attempt ${(n += 1)}.`)),
    );
    expect(end).toMatchObject({ kind: 'failed', error: { code: 'task.stuck' } });
    expect(payloads(events, 'task.stuck').map((stuck) => [stuck['pattern'], stuck['action']])).toEqual([
      ['repeat', 'nudged'],
      ['repeat', 'failed'],
    ]);
    expect(n).toBe(6);
  });

  it('finds two calls that alternate without change', async () => {
    let n = 0;
    const { events } = await runWith(functionModel(() => call((n += 1) % 2 === 0 ? 'same' : 'other')));
    expect(payloads(events, 'task.stuck')[0]).toMatchObject({ pattern: 'alternation', action: 'nudged' });
    expect(n).toBe(8);
  });

  it('finds the same two calls made side by side turn after turn', async () => {
    const { end } = await runWith(
      functionModel(() =>
        turn({
          calls: ['same', 'other', 'same'].map((tool, i) => ({ id: `s${(id += 1)}`, tool, args: { n: i } })),
        }),
      ),
    );
    expect(end).toMatchObject({ error: { code: 'task.stuck' } });
  });

  it('does not take polling something that changes for being stuck', async () => {
    const { end, events } = await runWith(
      functionModel((_, n) => (n <= 6 ? call('count', { n: 1 }) : turn({ text: 'done' }))),
    );
    expect(end).toEqual({ kind: 'completed' });
    expect(types(events)).not.toContain('task.stuck');
  });

  it('stops a model that says the same unfinished sentence again and again', async () => {
    let n = 0;
    const { end } = await runWith(
      functionModel(() => ((n += 1), turn({ text: 'Let me think', finish: 'length' }))),
    );
    expect(end).toMatchObject({ error: { code: 'task.stuck' } });
    expect(n).toBeLessThanOrEqual(8);
  });

  it('gives one closing turn when the steps are used up, and keeps its summary', async () => {
    const model = functionModel((options) =>
      options.tools === undefined ? turn({ text: 'Half is done.' }) : call('count'),
    );
    const { end, events, task } = await runWith(model, { budget: { maxIterations: 3 } });
    expect(end).toMatchObject({ error: { code: 'budget.iterations-exceeded', summary: 'Half is done.' } });
    expect(payloads(events, 'budget.exceeded')).toMatchObject([{ budget: 'iterations', limit: 3, spent: 3 }]);
    expect(model.calls).toHaveLength(4);
    expect(task).toMatchObject({ state: 'failed', spending: { iterations: 3 } });
  });

  it('never spends more tokens than allowed, closing turn included, and tells the model at 80 %', async () => {
    h.setModels([
      functionModel(
        (options) => {
          const output = Math.min(2_000, options.maxOutputTokens ?? 0);
          const isClosing = options.tools === undefined;
          return turn({
            ...(isClosing
              ? { text: 'Closing.' }
              : { calls: [{ id: `t${(id += 1)}`, tool: 'count', args: {} }] }),
            tokens: [1_500, output],
          });
        },
        { maxOutputTokens: 2_000 },
      ),
    ]);
    const { taskId } = await h.start('work', { budget: { maxTokens: 60_000 } });
    expect(await h.run(taskId)).toMatchObject({ error: { code: 'budget.tokens-exceeded' } });
    const { spending } = await h.task(taskId);
    expect(spending.tokens).toBeLessThanOrEqual(60_000);
    expect(spending.tokens).toBeGreaterThan(45_000);
    const notes = (await h.events(taskId)).flatMap(
      (event) => (event.payload['notes'] as string[] | undefined) ?? [],
    );
    expect(notes.filter((note) => note.includes("% of this task's tokens"))).toHaveLength(1);
    const row = await h.database.pool.query(
      'select reserved_tokens::int as r, own_reserved_tokens::int as o from vitto_tasks where id = $1',
      [taskId],
    );
    expect(row.rows).toEqual([{ r: 0, o: 0 }]);
  });

  it('never spends more money than allowed', async () => {
    h.setModels([
      functionModel(
        (options) =>
          turn({
            calls: [{ id: `m${(id += 1)}`, tool: 'count', args: {} }],
            tokens: [2_000, Math.min(500, options.maxOutputTokens ?? 0)],
          }),
        { price: PRICE, maxOutputTokens: 500 },
      ),
    ]);
    const { taskId } = await h.start('work', { budget: { maxCostUsd: 0.6 } });
    // What a turn really costs is put in by the model layer from the price.
    const end = await h.run(taskId);
    expect(end).toMatchObject({ error: { code: 'budget.cost-exceeded' } });
    const { spending } = await h.task(taskId);
    expect(spending.costUsd).toBeLessThanOrEqual(0.6);
    expect(spending.costUsd).toBeGreaterThan(0.2);
  });

  it('keeps a cap a day over several tasks', async () => {
    const own = await createRunHarness({
      tools: [count],
      settings: { dailyCostUsd: 0.5, timeZone: 'America/Los_Angeles' },
    });
    own.setModels([
      functionModel(() => turn({ text: 'ok', tokens: [5_000, 500] }), { price: PRICE, maxOutputTokens: 500 }),
    ]);
    const ends = [];
    for (let n = 0; n < 8; n += 1) ends.push(await own.run((await own.start(`task ${n}`)).taskId));
    const spent = await own.database.pool.query(
      'select sum(cost_nano)::float8 / 1e9 as usd, sum(reserved_cost_nano)::int as held from vitto_daily_spending',
    );
    expect((spent.rows[0] as { usd: number }).usd).toBeLessThanOrEqual(0.5);
    expect(ends.at(-1)).toMatchObject({ kind: 'failed', error: { code: 'budget.cost-exceeded' } });
    await own.drop();
  });

  it('cuts the oldest part of a conversation that no longer fits, calls with their results, and goes on', async () => {
    const model = functionModel(
      (_, n) =>
        n <= 12 ? turn({ calls: [{ id: `k${n}`, tool: 'fat', args: { n } }] }) : turn({ text: 'all read' }),
      { contextWindow: 20_000, maxOutputTokens: 1_000 },
    );
    const fat = defineTool({
      ...count,
      name: 'fat',
      run: (input: { n: number }) =>
        Promise.resolve({ status: 'ok', text: `page ${input.n} ${'lorem '.repeat(1_500)}` }),
    } as never);
    const own = await createRunHarness({ tools: [fat], models: [model] });
    const { taskId } = await own.start('read everything about ticket VIT-4711');
    expect(await own.run(taskId)).toEqual({ kind: 'completed' });
    const events = await own.events(taskId);
    expect(payloads(events, 'phase.completed').length).toBeGreaterThan(0);
    for (const { prompt } of model.calls) {
      const callIds = prompt.flatMap((m) =>
        m.role === 'assistant'
          ? m.content.filter((p) => p.type === 'tool-call').map((p) => p.toolCallId)
          : [],
      );
      const resultIds = prompt.flatMap((m) =>
        m.role === 'tool' ? m.content.map((p) => (p as { toolCallId: string }).toolCallId) : [],
      );
      expect(resultIds).toEqual(callIds);
      expect(Buffer.byteLength(JSON.stringify(prompt))).toBeLessThan(20_000 * 3.2);
    }
    expect(JSON.stringify(model.calls.at(-1)?.prompt).includes('VIT-4711')).toBe(true);
    await own.drop();
  });
});

describe('a run whose worker is lost', () => {
  const expire = (h: RunHarness, taskId: string) =>
    h.database.pool.query("update vitto_tasks set lease_until = now() - interval '1 second' where id = $1", [
      taskId,
    ]);

  it('is taken up by another worker, which repeats no finished step and says that an outcome is unknown', async () => {
    const ran: string[] = [];
    let block = true;
    const tool = (name: string, idempotency: 'pure' | 'once') =>
      defineTool({
        ...count,
        name,
        idempotency,
        run: async () => {
          ran.push(name);
          if (name !== 'first' && block) await new Promise(() => undefined);
          return { status: 'ok', text: `${name} done` };
        },
      } as never);
    const h = await createRunHarness({
      tools: [tool('first', 'once'), tool('look', 'pure'), tool('send', 'once')],
    });
    const model = functionModel((_, n) =>
      n === 1
        ? turn({ calls: [{ id: 'a', tool: 'first', args: {} }] })
        : n === 2
          ? turn({
              calls: [
                { id: 'b', tool: 'look', args: {} },
                { id: 'c', tool: 'send', args: {} },
              ],
            })
          : turn({ text: 'done' }),
    );
    h.setModels([model]);
    const { taskId } = await h.start('work');
    const dead = new AbortController();
    const lost = h.run(taskId, { signal: dead.signal, isDraining: () => false }, 'worker-dead');
    await expect.poll(() => ran).toEqual(['first', 'look', 'send']);
    expect(await h.run(taskId, undefined, 'worker-2')).toBeNull();

    await expire(h, taskId);
    block = false;
    expect(await h.run(taskId, undefined, 'worker-2')).toEqual({ kind: 'completed' });
    expect(ran).toEqual(['first', 'look', 'send', 'look']);
    const results = payloads(await h.events(taskId), 'tool.called');
    expect(results.map((result) => [result['tool'], result['status']])).toEqual([
      ['first', 'ok'],
      ['send', 'unknown'],
      ['look', 'ok'],
    ]);
    expect(model.calls).toHaveLength(3);
    dead.abort(new Error('the test is over'));
    await expect(lost).rejects.toThrow();
    await h.drop();
  });

  it('writes nothing more once somebody else owns the task', async () => {
    const entered = Promise.withResolvers<undefined>();
    const go = Promise.withResolvers<undefined>();
    const slow = defineTool({
      ...count,
      name: 'slow',
      run: async () => (entered.resolve(undefined), await go.promise, { status: 'ok', text: 'late' }),
    } as never);
    const h = await createRunHarness({ tools: [slow] });
    const parts = [turn({ calls: [{ id: 's', tool: 'slow', args: {} }] }), turn({ text: 'second worker' })];
    h.setModels([functionModel((_, n) => parts[Math.min(n, 2) - 1] ?? [])]);
    const { taskId } = await h.start('work');
    const first = h.run(taskId, undefined, 'worker-1');
    await entered.promise;
    await expire(h, taskId);
    const taken = await h.database.pool.query(
      "update vitto_tasks set fence = fence + 1, lease_holder = 'worker-2', lease_until = now() + interval '1 minute' where id = $1 returning seq",
      [taskId],
    );
    go.resolve(undefined);
    await expect(first).rejects.toThrow(/another owner/);
    const now = await h.task(taskId);
    expect(now.lastSeq).toBe((taken.rows[0] as { seq: number }).seq);
    await h.drop();
  });

  it('is failed as poisonous after three deaths, with its journal kept', async () => {
    const h = await createRunHarness({ models: [functionModel(() => turn({ text: 'x' }))] });
    const { taskId } = await h.start('work');
    for (let n = 1; n <= 3; n += 1) {
      await h.database.pool.query(
        "update vitto_tasks set state = 'running', lease_holder = 'dead', lease_until = now() - interval '1 second', deaths = $2 where id = $1",
        [taskId, n - 1],
      );
      if (n < 3) continue;
      expect(await h.run(taskId)).toBeNull();
    }
    expect(await h.task(taskId)).toMatchObject({ state: 'failed', error: { code: 'task.poison' } });
    await h.drop();
  });

  it('waits while the database is away, and loses nothing of what was done', async () => {
    const h = await createRunHarness({ tools: [count] });
    const admin = await createRunHarness({});
    const name = new URL(h.url).pathname.slice(1);
    const setOpen = (isOpen: boolean) =>
      admin.database.pool.query(`alter database ${name} allow_connections ${isOpen}`);
    const away = defineTool({
      ...count,
      name: 'away',
      idempotency: 'once',
      run: async () => {
        await setOpen(false);
        await admin.database.pool.query(
          'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1',
          [name],
        );
        setTimeout(() => void setOpen(true), 1_500);
        return { status: 'ok', text: 'done while it was away' };
      },
    } as never);
    const registry = new (await import('../engine/index.ts')).ToolRegistry([{ name: 't', tools: [away] }]);
    const own = { ...h.tasks, openRegistry: () => Promise.resolve(registry) };
    h.setModels([
      functionModel((_, n) =>
        n === 1 ? turn({ calls: [{ id: 'w', tool: 'away', args: {} }] }) : turn({ text: 'finished' }),
      ),
    ]);
    const { taskId } = await h.start('work');
    const { runTask } = await import('./run-task.ts');
    const end = await runTask(own, taskId, { signal: new AbortController().signal, isDraining: () => false });
    expect(end).toEqual({ kind: 'completed' });
    const events = await h.events(taskId);
    expect(payloads(events, 'tool.called')).toMatchObject([{ text: 'done while it was away' }]);
    expect(events.map((event) => event.seq)).toEqual(events.map((_, index) => index + 1));
    await h.drop();
    await admin.drop();
  });
});
