import type { EventEnvelope } from '@vitto/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openArtifacts } from '../../engine/journal/artifact.store.ts';
import { newId } from '../../kernel/ids.ts';
import { createClient, type Answer, type Call } from './testing/api-client.ts';
import { createHttpTestbed, type HttpTestbed, type TestServer } from './testing/http-testbed.ts';
import { seedApproval } from './testing/seed.ts';

let bed: HttpTestbed;
let server: TestServer;
let owner: (path: string, call?: Call) => Promise<Answer>;
beforeAll(async () => {
  bed = await createHttpTestbed();
  server = await bed.startServer();
  owner = createClient(server.url, bed.owner.token);
});
afterAll(() => bed.close());

async function createConversation(): Promise<string> {
  return (await owner('/api/conversations', { json: {} })).json['id'] as string;
}
const count = (statuses: number[]) =>
  Object.fromEntries(
    [...new Set(statuses)].sort().map((status) => [status, statuses.filter((s) => s === status).length]),
  );

describe('a conversation', () => {
  it('is begun, named by its first message, listed, renamed and deleted with its running task', async () => {
    const id = await createConversation();
    const sent = await owner(`/api/conversations/${id}/messages`, {
      json: { text: 'Fix the tests, please 🦊' },
    });
    expect(sent).toMatchObject({ status: 202, json: { outcome: 'started' } });
    const read = await owner(`/api/conversations/${id}`);
    expect(read.json).toMatchObject({ title: 'Fix the tests, please 🦊', activeTaskId: sent.json['taskId'] });
    const second = await owner(`/api/conversations/${id}/messages`, { json: { text: 'and the docs' } });
    expect(second.json).toMatchObject({ outcome: 'steered', taskId: sent.json['taskId'] });
    const messages = await owner(`/api/conversations/${id}/messages`);
    expect((messages.json['items'] as { text: string }[]).map((message) => message.text)).toEqual([
      'and the docs',
      'Fix the tests, please 🦊',
    ]);
    const renamed = await owner(`/api/conversations/${id}`, { method: 'PATCH', json: { title: 'Ñandú' } });
    expect(renamed.json['title']).toBe('Ñandú');
    expect((await owner(`/api/conversations/${id}`, { method: 'DELETE' })).status).toBe(204);
    expect((await owner(`/api/tasks/${sent.json['taskId'] as string}`)).status).toBe(404);
  });

  it('takes NUL and lone surrogates in text visibly, keeps the literal escape, and refuses them in paths', async () => {
    const id = await createConversation();
    const text = 'a\0b \ud83e c ' + String.raw`\u0000`;
    await owner(`/api/conversations/${id}/messages`, { json: { text } });
    await owner(`/api/conversations/${id}`, { method: 'PATCH', json: { title: 't\0' } });
    const messages = await owner(`/api/conversations/${id}/messages`);
    expect((messages.json['items'] as { text: string }[])[0]?.text).toBe(
      'a␀b \ufffd c ' + String.raw`\u0000`,
    );
    expect((await owner(`/api/conversations/${id}`)).json['title']).toBe('t␀');
    const refused = await owner('/api/conversations', { json: { allowedPaths: ['/home/notes\0.txt'] } });
    expect(refused).toMatchObject({ status: 422, json: { errors: [{ path: 'allowedPaths.0' }] } });
    const model = await owner('/api/tasks', { json: { prompt: 'x', model: 'a\0b' } });
    expect(model).toMatchObject({ status: 422, json: { errors: [{ path: 'model' }] } });
  });

  it('gives its history with a position from which the stream continues, while events are written', async () => {
    const id = await createConversation();
    const taskId = await bed.createTask(bed.owner.userId, id);
    const writing = (async () => {
      for (let turn = 1; turn <= 150; turn += 1) {
        await bed.append(taskId, [
          { type: 'agent.text', payload: { turn, attempt: 1, delta: `d${turn}` } },
          { type: 'phase.started', payload: { phase: `p${turn}` } },
        ]);
      }
    })();
    for (let round = 0; round < 10; round += 1) {
      const page = (await owner(`/api/conversations/${id}/events?limit=500`)).json as unknown as {
        items: EventEnvelope[];
        lastPosition: number;
      };
      const rest = (await owner(`/api/events?after=${page.lastPosition}&limit=1000`)).json as unknown as {
        items: EventEnvelope[];
      };
      const seen = [...page.items, ...rest.items].map((event) => event.seq);
      expect(seen).toEqual(Array.from({ length: seen.length }, (_, index) => index + 1));
    }
    await writing;
  });
});

describe('an approval', () => {
  it('is decided once of ten at the same instant; the others get 409 with what won', async () => {
    const taskId = await bed.createTask(bed.owner.userId);
    const approval = await seedApproval(bed, bed.owner.userId, taskId);
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        owner(`/api/approvals/${approval}/decision`, {
          json: { decision: index === 4 ? 'refused' : 'approved', note: 'n\0te' },
        }),
      ),
    );
    expect(count(answers.map((answer) => answer.status))).toEqual({ 200: 1, 409: 9 });
    const won = answers.find((answer) => answer.status === 200)?.json['state'] as string;
    for (const lost of answers.filter((answer) => answer.status === 409)) {
      expect(lost.json).toMatchObject({ code: 'approval.decided', title: expect.stringContaining(won) });
    }
    const events = (await owner(`/api/tasks/${taskId}/events`)).json['items'] as EventEnvelope[];
    expect(events.filter((event) => event.type === 'approval.decided')).toHaveLength(1);
  });

  it('is refused when other arguments were seen, or when its time is over', async () => {
    const taskId = await bed.createTask(bed.owner.userId);
    const approval = await seedApproval(bed, bed.owner.userId, taskId);
    const other = await owner(`/api/approvals/${approval}/decision`, {
      json: { decision: 'approved', argumentsHash: 'another' },
    });
    expect(other).toMatchObject({ status: 409, json: { code: 'approval.changed' } });
    const late = await seedApproval(bed, bed.owner.userId, taskId, {
      expiresAt: new Date(Date.now() - 1_000),
    });
    const expired = await owner(`/api/approvals/${late}/decision`, { json: { decision: 'approved' } });
    expect(expired).toMatchObject({ status: 409, json: { code: 'approval.expired' } });
  });
});

describe('an idempotency key', () => {
  const send = (id: string, key: string, text: string) =>
    owner(`/api/conversations/${id}/messages`, { json: { text }, headers: { 'idempotency-key': key } });

  it('makes ten requests at once one, and later ones get its answer', async () => {
    const id = await createConversation();
    const answers = await Promise.all(Array.from({ length: 10 }, () => send(id, 'k1', 'once')));
    for (const { status, json } of answers) {
      if (status === 409) expect(json['code']).toBe('idempotency.in-progress');
      else expect(status).toBe(202);
    }
    const again = await send(id, 'k1', 'once');
    expect(again.status).toBe(202);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(
      new Set([...answers.filter((a) => a.status === 202), again].map((a) => a.json['messageId'])).size,
    ).toBe(1);
    const messages = await owner(`/api/conversations/${id}/messages`);
    expect(messages.json['items']).toHaveLength(1);
  });

  it('is refused for another request, and belongs to one user', async () => {
    const id = await createConversation();
    await send(id, 'k2', 'one');
    expect(await send(id, 'k2', 'two')).toMatchObject({
      status: 422,
      json: { code: 'idempotency.other-request' },
    });
    const stranger = createClient(server.url, bed.stranger.token);
    const theirs = await stranger('/api/conversations', { json: {}, headers: { 'idempotency-key': 'k2' } });
    expect(theirs.status).toBe(201);
    const bad = await owner('/api/conversations', {
      json: {},
      headers: { 'idempotency-key': 'x'.repeat(256) },
    });
    expect(bad).toMatchObject({ status: 422, json: { code: 'idempotency.bad-key' } });
  });

  it('is taken over when its request died more than a minute ago, not before', async () => {
    const id = await createConversation();
    await send(id, 'k3', 'first');
    const age = (seconds: number) =>
      bed.database.pool.query(
        `update vitto_idempotency_keys set status = null, body = null, created_at = now() - make_interval(secs => $1) where key = 'k3'`,
        [seconds],
      );
    await age(30);
    expect((await send(id, 'k3', 'first')).json['code']).toBe('idempotency.in-progress');
    await age(61);
    expect((await send(id, 'k3', 'first')).json).toMatchObject({ outcome: 'steered' });
  });

  it('repeats refusals too, but not faults', async () => {
    const call = () =>
      owner(`/api/conversations/${newId()}/messages`, {
        json: { text: 'x' },
        headers: { 'idempotency-key': 'k4' },
      });
    expect((await call()).status).toBe(404);
    const failing = await bed.startServer({
      runs: {
        ...server.runs,
        resolveAllowedPaths: async () => Promise.reject(new Error('secret inner text')),
      },
    });
    const client = createClient(failing.url, bed.owner.token);
    const first = await client('/api/conversations', { json: {}, headers: { 'idempotency-key': 'k5' } });
    expect(first).toMatchObject({ status: 500, json: { code: 'internal', instance: expect.any(String) } });
    expect(first.text).not.toContain('secret inner text');
    const second = await owner('/api/conversations', { json: {}, headers: { 'idempotency-key': 'k5' } });
    expect(second.status).toBe(201);
    await failing.close();
  });

  it('never keeps a token', async () => {
    const make = () => owner('/api/tokens', { json: { name: 'k' }, headers: { 'idempotency-key': 'k6' } });
    const made = await make();
    expect(made.status).toBe(201);
    const again = await make();
    expect(again).toMatchObject({ status: 409, json: { code: 'idempotency.shown-once' } });
    const rows = await bed.database.pool.query('select body::text from vitto_idempotency_keys');
    expect(JSON.stringify(rows.rows)).not.toContain(made.json['token']);
  });
});

describe('an artifact', () => {
  const save = async (name: string, mediaType: string, content: string | Uint8Array) =>
    (
      await openArtifacts(bed.database.pool, { userId: bed.owner.userId, taskId: null }).save(
        name,
        mediaType,
        content,
      )
    ).id;

  it.each([
    ['page.html', 'text/html', 'attachment; filename=page.html'],
    ['x.svg', 'image/svg+xml', 'attachment; filename=x.svg'],
    ['p.png', 'image/png', 'inline; filename=p.png'],
    ['../../etc/passwd', 'text/plain', 'inline; filename=passwd'],
    ['a"b\r\nset-cookie: x=1;.txt', 'text/plain; x="\r\n', 'inline; filename="a\\"b__set-cookie: x=1;.txt"'],
    [
      'informe ñ 🦊.pdf',
      'application/pdf',
      /^attachment; filename=".*"; filename\*=UTF-8''informe%20%C3%B1%20%F0%9F%A6%8A\.pdf$/,
    ],
    ['..', 'evil\r\nx: y', 'attachment; filename=artifact'],
  ])('named %j of type %j is sent safely', async (name, type, disposition) => {
    const answer = await owner(`/api/artifacts/${await save(name, type, 'body')}/content`);
    expect(answer).toMatchObject({ status: 200, text: 'body' });
    expect(answer.headers.get('content-disposition')).toMatch(disposition);
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(answer.headers.get('content-security-policy')).toBe("default-src 'none'; sandbox");
    expect(answer.headers.get('set-cookie')).toBeNull();
  });

  it('is sent whole in parts, and by ranges', async () => {
    const content = Buffer.alloc(700_000, 'abcdefghij');
    const path = `/api/artifacts/${await save('big.bin', 'application/octet-stream', content)}/content`;
    const whole = await owner(path);
    expect(Buffer.from(whole.text).equals(content)).toBe(true);
    expect(whole.headers.get('content-length')).toBe('700000');
    const range = async (value: string) => owner(path, { headers: { range: value } });
    const middle = await range('bytes=262140-262149');
    expect(middle).toMatchObject({ status: 206, text: content.subarray(262_140, 262_150).toString() });
    expect(middle.headers.get('content-range')).toBe('bytes 262140-262149/700000');
    expect((await range('bytes=-3')).text).toBe('hij');
    expect((await range('bytes=699999-')).text).toBe('j');
    expect((await range('bytes=700000-')).status).toBe(416);
    expect((await range('bytes=5-1')).status).toBe(200);
    expect((await range('items=0-1')).status).toBe(200);
    const empty = await owner(`/api/artifacts/${await save('empty', 'text/plain', '')}/content`);
    expect(empty).toMatchObject({ status: 200, text: '' });
  });
});

describe('settings', () => {
  it('change field by field, also at the same time, and refuse what is none', async () => {
    const patch = (json: unknown) => owner('/api/settings', { method: 'PATCH', json });
    expect((await owner('/api/settings')).json).toMatchObject({
      language: null,
      timeZone: 'UTC',
      models: {},
    });
    await Promise.all([
      patch({ language: 'es' }),
      patch({ timeZone: 'Europe/Madrid' }),
      patch({ dailyCostUsd: 5 }),
    ]);
    expect((await owner('/api/settings')).json).toMatchObject({
      language: 'es',
      timeZone: 'Europe/Madrid',
      dailyCostUsd: 5,
    });
    expect(await patch({ timeZone: 'Mars/Olympus' })).toMatchObject({
      status: 422,
      json: { errors: [{ path: 'timeZone' }] },
    });
    expect(await patch({ models: { main: 'nope' } })).toMatchObject({
      status: 422,
      json: { code: 'model.unknown' },
    });
    expect(await patch({ budget: { maxTokens: 9_000_000 } })).toMatchObject({
      status: 422,
      json: { code: 'budget.above-limit' },
    });
    expect((await owner('/api/settings')).json).toMatchObject({
      timeZone: 'Europe/Madrid',
      models: {},
      budget: {},
    });
  });

  it('say what the installation allows, and refuse a daily cap above it', async () => {
    const capped = await bed.startServer({ dailyCostUsd: 10 });
    const call = createClient(capped.url, bed.owner.token);
    const patch = (json: unknown) => call('/api/settings', { method: 'PATCH', json });
    expect((await call('/api/settings/limits')).json).toMatchObject({
      dailyCostUsd: 10,
      budget: { maxIterations: 50, maxTokens: 500_000, maxCostUsd: null },
    });
    expect(await patch({ dailyCostUsd: 11 })).toMatchObject({
      status: 422,
      json: { code: 'budget.above-limit', errors: [{ path: 'dailyCostUsd' }] },
    });
    expect(await patch({ dailyCostUsd: 10 })).toMatchObject({ status: 200 });
  });

  it('refuse a money cap on a model without a price when either of them is set', async () => {
    const call = createClient(server.url, bed.stranger.token);
    const patch = (json: unknown) => call('/api/settings', { method: 'PATCH', json });
    const refused = { status: 422, json: { code: 'budget.no-price' } };
    expect(await patch({ models: { main: 'ollama/unpriced' } })).toMatchObject({ status: 200 });
    expect(await patch({ dailyCostUsd: 5 })).toMatchObject(refused);
    expect(await patch({ budget: { maxCostUsd: 1 } })).toMatchObject(refused);
    expect(await patch({ models: {}, dailyCostUsd: 5 })).toMatchObject({ status: 200 });
    expect(await patch({ models: { main: 'ollama/unpriced' } })).toMatchObject(refused);
    expect(await patch({ language: 'es' })).toMatchObject({ status: 200 });
  });
});
