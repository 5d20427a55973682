import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../engine/index.ts';
import { decideApproval } from './index.ts';
import { createRunHarness, functionModel, turn, type RunHarness } from './testing/run-harness.ts';

const sent: string[] = [];
const send = defineTool({
  name: 'send',
  description: 'Sends.',
  input: z.object({ what: z.string() }),
  domain: 'messaging',
  risk: 'irreversible',
  tier: 'in-process',
  idempotency: 'once',
  timeoutMs: 5_000,
  run: (input) => {
    sent.push(input.what);
    return Promise.resolve({ status: 'ok', text: 'sent' });
  },
});
const complete = { id: 'end', tool: 'task_complete', args: { report: 'I sent it.', success: true } };
const drain = (after: () => boolean) => ({ signal: new AbortController().signal, isDraining: after });

describe('what a user writes while a task runs', () => {
  let h: RunHarness;
  afterEach(async () => {
    sent.length = 0;
    await h.drop();
  });
  const statuses = async (taskId: string) =>
    (await h.events(taskId))
      .filter((event) => event.type === 'tool.called')
      .map((event) => [event.payload['tool'], event.payload['status']]);
  const approvalOf = async (taskId: string) =>
    (await h.database.pool.query('select id, state from vitto_approvals where task_id = $1', [taskId]))
      .rows as {
      id: string;
      state: string;
    }[];

  it('is read also when the worker stops right after the answer that it came too late for', async () => {
    h = await createRunHarness({});
    let isStopping = false;
    const model = functionModel(async (_, call) => {
      if (call > 1) return turn({ text: 'HELLO' });
      await h.say(conversationId, 'in capitals, please');
      isStopping = true;
      return turn({ text: 'hello' });
    });
    h.setModels([model]);
    const { taskId, conversationId } = await h.start('say hello');
    // The turn is journaled by the give-back; the next worker must still see that a message is unread.
    const first = await h.run(
      taskId,
      drain(() => isStopping),
    );
    expect(first).toEqual({ kind: 'given-back' });
    expect(await h.run(taskId, undefined, 'worker-2')).toEqual({ kind: 'completed' });
    expect((await h.task(taskId)).result).toBe('HELLO');
  });

  it('keeps a task from being ended over a call that was refused', async () => {
    h = await createRunHarness({ tools: [send] });
    const model = functionModel((_, call) =>
      call === 1
        ? turn({ calls: [{ id: 's', tool: 'send', args: { what: 'x' } }, complete] })
        : turn({ text: 'Changed.' }),
    );
    h.setModels([model]);
    const { taskId, conversationId } = await h.start('send x');
    expect(await h.run(taskId)).toMatchObject({ kind: 'parked', state: 'waiting_approval' });
    await h.say(conversationId, 'wait, change it first');
    expect(await h.run(taskId)).toEqual({ kind: 'completed' });
    expect(sent).toEqual([]);
    expect((await h.task(taskId)).result).toBe('Changed.');
    expect(JSON.stringify(model.calls[1]?.prompt)).toContain('wait, change it first');
    expect(await statuses(taskId)).toEqual([
      ['send', 'refused'],
      ['task_complete', 'refused'],
    ]);
  });

  it('takes back what the model asks for in the same moment', async () => {
    h = await createRunHarness({ tools: [send] });
    const model = functionModel(async (_, call) => {
      if (call > 1) return turn({ text: 'Nothing was sent.' });
      await h.say(conversationId, 'stop, do not send anything');
      return turn({ calls: [{ id: 's', tool: 'send', args: { what: 'x' } }] });
    });
    h.setModels([model]);
    const { taskId, conversationId } = await h.start('send x');
    expect(await h.run(taskId)).toEqual({ kind: 'completed' });
    expect(sent).toEqual([]);
    expect((await approvalOf(taskId)).every((one) => one.state === 'void')).toBe(true);
  });

  it('finds an ended task closed: its approvals are void, and deciding them does nothing', async () => {
    h = await createRunHarness({ tools: [send], rootBudget: { maxIterations: 1 } });
    h.setModels([functionModel(() => turn({ calls: [{ id: 's', tool: 'send', args: { what: 'x' } }] }))]);
    const { taskId } = await h.start('send x');
    await h.run(taskId);
    const [approval] = await approvalOf(taskId);
    await h.database.pool.query(
      "update vitto_tasks set state = 'running', waiting_for = null, lease_holder = 'dead', lease_until = now() - interval '1 second', deaths = 2 where id = $1",
      [taskId],
    );
    expect(await h.run(taskId)).toBeNull();
    expect((await approvalOf(taskId))[0]?.state).toBe('void');
    const decision = {
      userId: h.userId,
      approvalId: approval?.id ?? '',
      decision: 'approved' as const,
      by: 'web',
    };
    await expect(decideApproval(h.runs, decision)).rejects.toMatchObject({ status: 409 });
    expect((await h.events(taskId)).at(-1)?.type).toBe('task.failed');
  });
});

describe('limits of a run', () => {
  it('reckon with what the user has just written', async () => {
    const h = await createRunHarness({});
    const model = functionModel(
      (options) => {
        const input = Math.floor(JSON.stringify(options.prompt).length / 3);
        return turn({ text: 'ok', tokens: [input, 100] });
      },
      { maxOutputTokens: 2_000 },
    );
    h.setModels([model]);
    const { taskId } = await h.start('word '.repeat(19_000), { budget: { maxTokens: 12_000 } });
    expect(await h.run(taskId)).toMatchObject({ kind: 'failed', error: { code: 'budget.tokens-exceeded' } });
    expect((await h.task(taskId)).spending.tokens).toBeLessThanOrEqual(12_000);
    await h.drop();
  });

  it('end a call of the model when the time is used up', async () => {
    const h = await createRunHarness({ rootBudget: { maxDurationMs: 300 } });
    h.setModels([
      functionModel(async (options) => {
        if (options.tools === undefined) return turn({ text: 'Out of time.' });
        await new Promise((_, reject) =>
          options.abortSignal?.addEventListener('abort', () => reject(options.abortSignal?.reason as Error)),
        );
        return [];
      }),
    ]);
    const { taskId } = await h.start('think for ever');
    expect(await h.run(taskId)).toMatchObject({
      kind: 'failed',
      error: { code: 'budget.duration-exceeded' },
    });
    await h.drop();
  });

  it('stop a handler that neither begins nor heeds its signal in time', async () => {
    const controller = new AbortController();
    const deaf = defineTool({
      ...send,
      name: 'deaf',
      risk: 'read',
      run: () => (controller.abort(new Error('seized')), new Promise(() => undefined)),
    } as never);
    const h = await createRunHarness({ tools: [deaf] });
    h.setModels([functionModel(() => turn({ calls: [{ id: 'd', tool: 'deaf', args: { what: 'x' } }] }))]);
    const { taskId } = await h.start('go');
    await expect(h.run(taskId, { signal: controller.signal, isDraining: () => false })).rejects.toThrow(
      'seized',
    );
    await h.drop();
  });

  it('never cut the newest results, but show them shorter', async () => {
    const page = defineTool({
      ...send,
      name: 'page',
      risk: 'read',
      run: (input: { what: string }) =>
        Promise.resolve({ status: 'ok', text: `${input.what} ${'lorem '.repeat(2_000)} end-${input.what}` }),
    } as never);
    const model = functionModel(
      (_, call) =>
        call === 1
          ? turn({
              calls: ['a', 'b', 'c', 'd', 'e'].map((what) => ({ id: what, tool: 'page', args: { what } })),
            })
          : turn({ text: 'read' }),
      { contextWindow: 12_000, maxOutputTokens: 1_000 },
    );
    const h = await createRunHarness({ tools: [page], models: [model] });
    const { taskId } = await h.start('read five pages');
    expect(await h.run(taskId)).toEqual({ kind: 'completed' });
    const prompt = JSON.stringify(model.calls[1]?.prompt);
    for (const what of ['a', 'b', 'c', 'd', 'e']) expect(prompt).toContain(`end-${what}`);
    expect(Buffer.byteLength(prompt)).toBeLessThan(12_000 * 3.2);
    await h.drop();
  });
});

describe('secrets in what is journaled', () => {
  it('are masked by value: no JSON breaks, nothing beside them is lost, also after a line break', async () => {
    const token = `ghp_${'A1b2'.repeat(9)}`;
    const data = {
      registry: 'http://localhost:4873',
      '@scope:registry': 'x',
      list: ['http://localhost:8080', 'ana@example.com'],
      pem: '-----BEGIN PRIVATE KEY-----',
      end: '-----END PRIVATE KEY-----',
    };
    const tool = defineTool({
      ...send,
      name: 'data',
      risk: 'read',
      run: () => Promise.resolve({ status: 'ok', text: `key:\n${token}`, data }),
    } as never);
    const h = await createRunHarness({ tools: [tool] });
    h.setModels([
      functionModel((_, call) =>
        call === 1 ? turn({ calls: [{ id: 'd', tool: 'data', args: { what: 'x' } }] }) : turn({ text: 'ok' }),
      ),
    ]);
    const { taskId } = await h.start(`mine:\n${token}`);
    expect(await h.run(taskId)).toEqual({ kind: 'completed' });
    const events = await h.events(taskId);
    expect(JSON.stringify(events)).not.toContain(token);
    expect(events.find((event) => event.type === 'tool.called')?.payload['data']).toEqual(data);
    await h.drop();
  });
});
