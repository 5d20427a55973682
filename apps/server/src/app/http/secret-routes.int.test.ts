import { afterAll, beforeAll, expect, it } from 'vitest';
import { createClient } from './testing/api-client.ts';
import { createHttpTestbed, type HttpTestbed, type TestServer } from './testing/http-testbed.ts';

let bed: HttpTestbed;
let server: TestServer;
beforeAll(async () => {
  bed = await createHttpTestbed();
  server = await bed.startServer();
});
afterAll(() => bed.close());

const as = (who: 'owner' | 'stranger') => createClient(server.url, bed[who].token);
const VALUE = 'correct horse battery staple';
const put = (name: string, value: string) =>
  as('owner')(`/api/secrets/${name}`, { method: 'PUT', json: { value } });

it('takes a value, and shows that there is one, never which', async () => {
  expect((await put('DEPLOY_KEY', VALUE)).status).toBe(204);
  const list = await as('owner')('/api/secrets');
  expect(list.json['items']).toEqual([
    {
      name: 'DEPLOY_KEY',
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
      lastUsedAt: null,
    },
  ]);
  expect(list.text).not.toContain('horse');
  expect((await as('stranger')('/api/secrets')).json['items']).toEqual([]);
  const stored = await bed.database.pool.query('select sealed from vitto_secrets');
  expect((stored.rows[0] as { sealed: Buffer }).sealed.includes('horse')).toBe(false);
});

it('masks the value in what its user writes, and gives nothing away to others', async () => {
  const text = `it is ${VALUE}, in a link ?k=${encodeURIComponent(VALUE)}, ${Buffer.from(VALUE).toString('base64')}`;
  const send = async (who: 'owner' | 'stranger') => {
    const sent = await as(who)('/api/tasks', { json: { prompt: text, title: `T ${VALUE}` } });
    expect(sent.status).toBe(201);
    const { taskId } = sent.json as { taskId?: string };
    const stored = await bed.database.pool.query(
      `select t.title || coalesce(string_agg(e.payload::text, ' '), '') as text
       from vitto_tasks t join vitto_task_events e on e.task_id = t.id
       where t.user_id = $1 and ($2::uuid is null or t.id = $2) group by t.id, t.title`,
      [bed[who].userId, taskId ?? null],
    );
    return (stored.rows as { text: string }[]).map((row) => row.text).join(' ');
  };
  const mine = await send('owner');
  expect(mine).toContain('[secret DEPLOY_KEY masked]');
  expect(mine).not.toContain('horse');
  expect(mine).not.toContain(Buffer.from(VALUE).toString('base64').slice(4, -4));
  expect(await send('stranger')).toContain(VALUE);
});

it('masks the value in the name that its user gives a conversation', async () => {
  const made = await as('owner')('/api/conversations', { json: { title: `A ${VALUE}` } });
  expect(made.json['title']).toBe('A [secret DEPLOY_KEY masked]');
  const path = `/api/conversations/${String(made.json['id'])}`;
  const named = await as('owner')(path, { method: 'PATCH', json: { title: `B ${VALUE}` } });
  expect(named.json['title']).toBe('B [secret DEPLOY_KEY masked]');
});

it('masks the value before a text is cut to a title', async () => {
  for (const before of ['', 'x'.repeat(60), 'y'.repeat(70)]) {
    const sent = await as('owner')('/api/tasks', { json: { prompt: `${before} ${VALUE}` } });
    const told = await as('owner')(`/api/conversations/${String(sent.json['conversationId'])}`);
    expect(`${String(sent.json['title'])} ${String(told.json['title'])}`).not.toContain('correct');
  }
});

it('masks a new value in every process', async () => {
  const other = await bed.startServer();
  const say = async (text: string) => {
    const sent = await createClient(other.url, bed.owner.token)('/api/tasks', { json: { prompt: text } });
    expect(sent.status).toBe(201);
    const found = await bed.database.pool.query(
      `select payload->>'text' as text from vitto_task_events where type = 'user.message' order by position desc limit 1`,
    );
    return (found.rows[0] as { text: string }).text;
  };
  expect(await say('hello-new-value')).toBe('hello-new-value');
  const told = new Promise<void>((resolve) => {
    other.signals.listen((signal) => {
      if (signal.kind === 'changed') resolve();
    });
  });
  await put('OTHER', 'hello-new-value');
  await told;
  expect(await say('hello-new-value')).toBe('[secret OTHER masked]');
});

it('refuses names and values that are none, and deletes', async () => {
  for (const name of ['1x', 'a-b', 'x'.repeat(65), '%2e%2e']) {
    expect((await put(name, 'x')).status, name).toBe(404);
  }
  const empty = await put('EMPTY', '');
  expect(empty).toMatchObject({ status: 422, json: { errors: [{ path: 'value' }] } });
  const remove = () => as('owner')('/api/secrets/OTHER', { method: 'DELETE' });
  expect((await remove()).status).toBe(204);
  expect((await remove()).json['code']).toBe('secret.not-found');
});

it('keeps no value in the answer to a broken body', async () => {
  const answer = await as('owner')('/api/secrets/X', {
    method: 'PUT',
    json: { value: 'my-only-value', more: 'my-other-value' },
  });
  expect(answer.status).toBe(422);
  expect(answer.text).not.toMatch(/my-(only|other)-value/);
});
