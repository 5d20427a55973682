import { defineTool, ModelError } from '../engine/index.ts';
import { afterEach, expect, it } from 'vitest';
import { z } from 'zod';
import { createRunHarness, functionModel, turn, type RunHarness } from './testing/run-harness.ts';

let harness: RunHarness;
afterEach(() => harness.drop());

const VALUE = 'tr0ub4dor&3-tr0ub4dor';

/** Sends its argument out, filled in, and answers with all that it got back. */
function createEcho(sent: string[]) {
  return defineTool({
    name: 'echo',
    description: 'sends a header out',
    input: z.object({ header: z.string() }),
    domain: 'web_search',
    risk: 'read',
    tier: 'in-process',
    idempotency: 'pure',
    timeoutMs: 5_000,
    run: async (input, context) => {
      const { header } = await context.fillSecrets(input);
      sent.push(header);
      context.reportProgress('stdout', `> ${header}\n`);
      const encoded = Buffer.from(header).toString('base64');
      return { status: 'ok', text: `got ${header} and ${encoded}`, data: { [header]: [header] } };
    },
  });
}

const CALL = (header: string) => turn({ calls: [{ id: 'c1', tool: 'echo', args: { header } }] });

it('fills a secret in inside the tool: neither the journal nor the model ever holds its value', async () => {
  const sent: string[] = [];
  const model = functionModel((_, call) =>
    call === 1 ? CALL('Bearer {{secret:API_KEY}}') : turn({ text: `it answered ${VALUE}` }),
  );
  harness = await createRunHarness({ models: [model], tools: [createEcho(sent)] });
  await harness.secrets.set(harness.userId, 'API_KEY', VALUE);
  const { taskId } = await harness.start('call it');
  await harness.run(taskId);

  expect(sent).toEqual([`Bearer ${VALUE}`]);
  const told = JSON.stringify([await harness.events(taskId), model.calls, await harness.task(taskId)]);
  expect(told).toContain('{{secret:API_KEY}}');
  expect(told).toContain('[secret API_KEY masked]');
  for (const form of [VALUE, Buffer.from(VALUE).toString('base64').slice(0, 20), 'tr0ub4dor']) {
    expect(told).not.toContain(form);
  }
  const everything = await harness.database.pool.query(
    `select (select string_agg(e::text, ' ') from vitto_task_events e)
       || (select string_agg(t::text, ' ') from vitto_tasks t) as text`,
  );
  expect((everything.rows[0] as { text: string }).text).not.toContain('tr0ub4dor');
  const [secret] = await harness.secrets.list(harness.userId);
  expect(secret?.lastUsedAt).not.toBeNull();
});

it('tells the model which secret there is not, and runs nothing', async () => {
  const sent: string[] = [];
  const model = functionModel((_, call) =>
    call === 1 ? CALL('{{secret:NOT_THERE}}') : turn({ text: 'so be it' }),
  );
  harness = await createRunHarness({ models: [model], tools: [createEcho(sent)] });
  const { taskId } = await harness.start('call it');
  await harness.run(taskId);
  const called = (await harness.events(taskId)).find((event) => event.type === 'tool.called');
  expect(called?.payload).toMatchObject({
    status: 'error',
    text: expect.stringMatching(/^secret\.unknown: There is no secret named NOT_THERE\./),
  });
  expect(sent).toEqual([]);
});

it("never fills in another user's secret", async () => {
  const sent: string[] = [];
  const model = functionModel((_, call) => (call === 1 ? CALL('{{secret:API_KEY}}') : turn({ text: 'ok' })));
  harness = await createRunHarness({ models: [model], tools: [createEcho(sent)] });
  const other = '01890000-0000-7000-8000-000000000001';
  await harness.database.pool.query("insert into vitto_users (id, name, role) values ($1, 'Ben', 'member')", [
    other,
  ]);
  await harness.secrets.set(other, 'API_KEY', VALUE);
  const { taskId } = await harness.start('call it');
  await harness.run(taskId);
  expect(sent).toEqual([]);
});

it('masks a secret that is entered while the task runs', async () => {
  const sent: string[] = [];
  const model = functionModel(async (_, call) => {
    if (call === 1) await harness.secrets.set(harness.userId, 'LATE', VALUE);
    return call === 1 ? CALL('{{secret:LATE}}') : turn({ text: VALUE });
  });
  harness = await createRunHarness({ models: [model], tools: [createEcho(sent)] });
  const { taskId } = await harness.start('call it');
  await harness.run(taskId);
  expect(sent).toEqual([VALUE]);
  expect(JSON.stringify(await harness.events(taskId))).not.toContain('tr0ub4dor');
});

it('masks what a task fails of, also beside the journal', async () => {
  const model = functionModel(() => {
    throw new ModelError('model.auth', `Incorrect key: Bearer ${VALUE}`, `Not ${VALUE}.`);
  });
  harness = await createRunHarness({ models: [model] });
  await harness.secrets.set(harness.userId, 'API_KEY', VALUE);
  const { taskId } = await harness.start('call it');
  await harness.run(taskId);
  expect(await harness.task(taskId)).toMatchObject({
    state: 'failed',
    error: { code: 'model.auth', message: expect.stringContaining('[secret API_KEY masked]') },
  });
  const rows = await harness.database.pool.query('select t::text as text from vitto_tasks t');
  expect(JSON.stringify(rows.rows)).not.toContain('tr0ub4dor');
});
