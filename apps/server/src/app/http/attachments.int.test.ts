import { request as openRequest } from 'node:http';
import type { Artifact } from '@vitto/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../kernel/ids.ts';
import { createClient, type Answer, type Call } from './testing/api-client.ts';
import { createHttpTestbed, type HttpTestbed, type TestServer } from './testing/http-testbed.ts';

const MIB = 1024 * 1024;
let bed: HttpTestbed;
let server: TestServer;
let owner: (path: string, call?: Call) => Promise<Answer>;
beforeAll(async () => {
  bed = await createHttpTestbed();
  server = await bed.startServer();
  owner = createClient(server.url, bed.owner.token);
});
afterAll(() => bed.close());

function upload(bytes: Uint8Array, query = 'name=a.bin&mediaType=application/octet-stream'): Promise<Answer> {
  const headers = { 'content-type': 'application/octet-stream' };
  return owner(`/api/attachments?${query}`, { method: 'POST', body: bytes, headers });
}
const countArtifacts = async () =>
  Number((await bed.database.pool.query('select count(*) from vitto_artifacts')).rows[0].count);

describe('an upload', () => {
  it('is kept byte by byte, up to 20 MB', async () => {
    const bytes = Buffer.alloc(20 * MIB, 'vitto');
    const answer = await upload(bytes, 'name=big.bin&mediaType=Application/Zip');
    expect(answer.status).toBe(201);
    expect(answer.json).toMatchObject({
      name: 'big.bin',
      mediaType: 'application/zip',
      bytes: bytes.length,
      taskId: null,
    });
    const got = await fetch(`${server.url}/api/artifacts/${String(answer.json['id'])}/content`, {
      headers: { authorization: `Bearer ${bed.owner.token}` },
    });
    expect(Buffer.compare(Buffer.from(await got.arrayBuffer()), bytes)).toBe(0);
  });

  it('may be empty, or any bytes, JSON too', async () => {
    expect(
      (await upload(Buffer.from('{"a": 1}'), 'name=a.json&mediaType=application/json')).json,
    ).toMatchObject({ bytes: 8 });
    expect((await upload(Buffer.alloc(0))).json).toMatchObject({ bytes: 0 });
  });

  it('is refused when it is too large, said or not, and leaves nothing', async () => {
    const before = await countArtifacts();
    const said = await upload(Buffer.alloc(20 * MIB + 1));
    expect(said.status).toBe(413);
    expect(said.json).toMatchObject({
      code: 'attachment.too-large',
      title: 'The file is larger than 20 MB.',
      hint: expect.any(String),
    });
    const unsaid = await sendInParts(
      Array.from({ length: 81 }, () => Buffer.alloc(256 * 1024)),
      'end',
    );
    expect(unsaid).toBe(413);
    expect(await countArtifacts()).toBe(before);
  });

  it('is kept once under a key, which stands for no other file', async () => {
    const send = (body: string) =>
      owner('/api/attachments?name=a&mediaType=text/plain', {
        body,
        headers: { 'content-type': 'application/octet-stream', 'idempotency-key': 'upload-once' },
      });
    const first = await send('one');
    expect((await send('one')).json['id']).toBe(first.json['id']);
    expect(await send('another')).toMatchObject({
      status: 422,
      json: { code: 'idempotency.other-request' },
    });
  });

  it('leaves nothing when it breaks off', async () => {
    const before = await countArtifacts();
    await sendInParts([Buffer.alloc(MIB)], 'break');
    await expect.poll(countArtifacts).toBe(before);
  });

  it('needs a name and a media type, and to be bytes', async () => {
    for (const query of [
      '',
      'name=a',
      'name=&mediaType=a/b',
      'name=a&mediaType=nonsense',
      `name=${'x'.repeat(201)}&mediaType=a/b`,
    ]) {
      expect((await upload(Buffer.from('x'), query)).status, query).toBe(422);
    }
    for (const type of ['application/json', 'text/plain', 'multipart/form-data; boundary=x', 'nonsense']) {
      const answer = await owner('/api/attachments?name=a&mediaType=a/b', {
        method: 'POST',
        body: '{}',
        headers: { 'content-type': type },
      });
      expect(answer.status, type).toBe(415);
    }
  });

  it('has a name without a path and without what does not show', async () => {
    for (const [name, kept] of [
      ['../../etc/passwd', 'passwd'],
      ['C:\\temp\\notes.txt', 'notes.txt'],
      ['gnp.\u202etxt.exe', 'gnp.txt.exe'],
      ['a\nb\0c.txt', 'a bc.txt'],
      ['..', '..'],
      ['///', 'file'],
    ] as const) {
      const answer = await upload(Buffer.from('x'), `name=${encodeURIComponent(name)}&mediaType=text/plain`);
      expect(answer.json['name'], JSON.stringify(name)).toBe(kept);
    }
  });

  it('that is never sent is gone a day later', async () => {
    const old = (await upload(Buffer.from('old'))).json as unknown as Artifact;
    await bed.database.pool.query(
      "update vitto_artifacts set created_at = now() - interval '25 hours' where id = $1",
      [old.id],
    );
    await upload(Buffer.from('new'));
    expect((await owner(`/api/artifacts/${old.id}`)).status).toBe(404);
  });
});

describe('the files of a message', () => {
  const begin = async () => String((await owner('/api/conversations', { json: {} })).json['id']);
  const eventOf = async (messageId: unknown) => {
    const found = await bed.database.pool.query(
      "select payload from vitto_task_events where type = 'user.message' and payload->>'messageId' = $1",
      [messageId],
    );
    return found.rows[0]?.payload as { attachments?: Artifact[] };
  };

  it('stand in its event, when it starts a task and when it steers one, and go with the conversation', async () => {
    const conversation = await begin();
    const first = (await upload(Buffer.from('one'), 'name=one.txt&mediaType=text/plain')).json['id'];
    const second = (await upload(Buffer.from('two'), 'name=two.txt&mediaType=text/plain')).json['id'];
    const path = `/api/conversations/${conversation}/messages`;
    const started = await owner(path, { json: { text: 'look', attachments: [first, first] } });
    expect(started.json).toMatchObject({ outcome: 'started' });
    expect((await eventOf(started.json['messageId'])).attachments).toEqual([
      { id: first, name: 'one.txt', mediaType: 'text/plain', bytes: 3 },
    ]);
    const steered = await owner(path, { json: { text: 'and this', attachments: [second] } });
    expect(steered.json).toMatchObject({ outcome: 'steered' });
    const direct = await owner(`/api/tasks/${String(started.json['taskId'])}/messages`, {
      json: { text: 'again', attachments: [second, first] },
    });
    expect((await eventOf(direct.json['messageId'])).attachments?.map((ref) => ref.id)).toEqual([
      second,
      first,
    ]);
    expect((await owner(`/api/artifacts/${String(first)}`)).json['taskId']).toBe(started.json['taskId']);
    await owner(`/api/conversations/${conversation}`, { method: 'DELETE' });
    expect((await owner(`/api/artifacts/${String(second)}`)).status).toBe(404);
  });

  it("must be there, whole, and one's own", async () => {
    const stranger = createClient(server.url, bed.stranger.token);
    const theirs = await stranger('/api/attachments?name=a&mediaType=a/b', {
      method: 'POST',
      body: 'x',
      headers: { 'content-type': 'application/octet-stream' },
    });
    const half = newId();
    await bed.database.pool.query(
      "insert into vitto_artifacts (id, user_id, name, media_type) values ($1, $2, 'half', 'a/b')",
      [half, bed.owner.userId],
    );
    const conversation = await begin();
    for (const id of [theirs.json['id'], half, newId()]) {
      const answer = await owner(`/api/conversations/${conversation}/messages`, {
        json: { text: 'look', attachments: [id] },
      });
      expect(answer.status).toBe(422);
      expect(answer.json).toMatchObject({
        code: 'attachment.not-found',
        errors: [{ path: 'attachments.0' }],
      });
    }
    expect((await owner(`/api/tasks?conversationId=${conversation}`)).json['items']).toEqual([]);
  });
});

/** Sends a body of unsaid length; resolves with the status, or with 0 when it is broken off. */
function sendInParts(parts: Buffer[], ending: 'end' | 'break'): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const request = openRequest(`${server.url}/api/attachments?name=a&mediaType=a/b`, {
    method: 'POST',
    headers: { authorization: `Bearer ${bed.owner.token}`, 'content-type': 'application/octet-stream' },
  });
  request.on('response', (response) => {
    response.resume();
    resolve(response.statusCode ?? 0);
  });
  request.on('error', () => resolve(0));
  for (const part of parts) request.write(part);
  if (ending === 'end') request.end();
  else request.write(Buffer.alloc(1), () => request.destroy());
  return promise;
}
