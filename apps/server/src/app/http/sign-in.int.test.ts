import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSignInCode } from '../../identity/index.ts';
import { openDatabase } from '../../kernel/database/database.ts';
import { createClient, type Answer, type Call } from './testing/api-client.ts';
import { createHttpTestbed, type HttpTestbed, type TestServer } from './testing/http-testbed.ts';

let bed: HttpTestbed;
let server: TestServer;
let anyone: (path: string, call?: Call) => Promise<Answer>;
beforeAll(async () => {
  bed = await createHttpTestbed();
  server = await bed.startServer();
  anyone = createClient(server.url);
});
afterAll(() => bed.close());

const cookieOf = (answer: Answer) => answer.headers.get('set-cookie') ?? '';

async function signIn(): Promise<{ cookie: string; csrf: string }> {
  const code = await createSignInCode(bed.database, bed.owner.userId);
  const answer = await anyone('/api/session', { json: { code } });
  expect(answer.status).toBe(201);
  return { cookie: cookieOf(answer).split(';')[0] ?? '', csrf: answer.json['csrfToken'] as string };
}

/** fetch does not let a test choose the Host header. */
function statusForHost(host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    httpRequest(`${server.url}/healthz`, { headers: { host } }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    })
      .on('error', reject)
      .end();
  });
}

describe('signing in', () => {
  it('gives a cookie that no script reads and no other site sends, and says who it is', async () => {
    const code = await createSignInCode(bed.database, bed.owner.userId);
    const answer = await anyone('/api/session', { json: { code } });
    expect(cookieOf(answer)).toMatch(
      /^vitto_session=[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax$/,
    );
    const { cookie } = await signIn();
    const me = await anyone('/api/session', { headers: { cookie } });
    expect(me.json).toMatchObject({ id: bed.owner.userId, role: 'owner', csrfToken: expect.any(String) });
  });

  it('gives who is signed in a code for another browser, for themselves only', async () => {
    const { cookie, csrf } = await signIn();
    const made = await anyone('/api/sign-in-codes', { json: {}, headers: { cookie, 'x-csrf-token': csrf } });
    expect(made.status).toBe(201);
    const other = await anyone('/api/session', { json: { code: made.json['code'] } });
    expect(other.json).toMatchObject({ id: bed.owner.userId });
    expect((await anyone('/api/sign-in-codes', { json: {} })).status).toBe(401);
  });

  it('marks the cookie as secure behind https', async () => {
    const secure = await bed.startServer({ publicUrl: 'https://vitto.example' });
    const code = await createSignInCode(bed.database, bed.owner.userId);
    const answer = await createClient(secure.url)('/api/session', { json: { code } });
    expect(cookieOf(answer)).toContain('; Secure');
    await secure.close();
  });

  it('makes one session of a double click', async () => {
    const code = await createSignInCode(bed.database, bed.owner.userId);
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => anyone('/api/session', { json: { code } })),
    );
    expect(answers.map((answer) => answer.status).sort()).toEqual([201, 401, 401, 401, 401]);
    expect(answers.find((answer) => answer.status === 401)?.json).toMatchObject({
      code: 'sign-in.code-invalid',
    });
  });

  it('refuses a code that is too old, and one that never was, in the same words', async () => {
    const code = await createSignInCode(bed.database, bed.owner.userId);
    await bed.database.pool.query("update vitto_sign_in_codes set expires_at = now() - interval '1 second'");
    const old = await anyone('/api/session', { json: { code } });
    const unknown = await anyone('/api/session', { json: { code: 'never' } });
    expect(old.status).toBe(401);
    expect(old.json).toEqual(unknown.json);
  });

  it('may be tried ten times a minute', async () => {
    const strict = await bed.startServer({ attemptsPerMinute: 10 });
    const client = createClient(strict.url);
    const statuses = [];
    for (let index = 0; index < 11; index += 1) {
      statuses.push((await client('/api/session', { json: { code: 'guess' } })).status);
    }
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 401), 429]);
    const refused = await client('/api/session', { json: { code: 'guess' } });
    expect(refused.json).toMatchObject({ code: 'request.too-many' });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    await strict.close();
  });

  it('stores neither codes nor cookies nor tokens', async () => {
    const code = await createSignInCode(bed.database, bed.owner.userId);
    const { cookie } = await signIn();
    const dump = await bed.database.pool.query(
      `select (select json_agg(c) from vitto_sign_in_codes c)::text || (select json_agg(s) from vitto_sessions s)::text
        || (select json_agg(t) from vitto_api_tokens t)::text as all`,
    );
    const all = (dump.rows[0] as { all: string }).all;
    for (const secret of [code, cookie.split('=')[1] ?? '', bed.owner.token])
      expect(all).not.toContain(secret);
  });
});

describe('a session', () => {
  const rename = (headers: Record<string, string>) =>
    anyone('/api/settings', { method: 'PATCH', json: { language: 'en' }, headers });

  it('changes something only with its own token, from its own pages', async () => {
    const { cookie, csrf } = await signIn();
    const other = await signIn();
    expect((await rename({ cookie })).json).toMatchObject({ status: 403, code: 'sign-in.csrf' });
    expect((await rename({ cookie, 'x-csrf-token': 'x' })).status).toBe(403);
    expect((await rename({ cookie, 'x-csrf-token': other.csrf })).status).toBe(403);
    expect((await rename({ cookie, 'x-csrf-token': csrf })).status).toBe(200);
    const from = (origin: string) => rename({ cookie, 'x-csrf-token': csrf, origin });
    expect((await from('https://evil.example')).json).toMatchObject({
      status: 403,
      code: 'sign-in.cross-site',
    });
    expect((await from('null')).status).toBe(403);
    expect((await from(server.url)).status).toBe(200);
    expect((await from('http://127.0.0.1:4800')).status).toBe(200);
  });

  it('is not begun from another site', async () => {
    const code = await createSignInCode(bed.database, bed.owner.userId);
    const answer = await anyone('/api/session', {
      json: { code },
      headers: { origin: 'https://evil.example' },
    });
    expect(answer.status).toBe(403);
  });

  it('ends at sign-out, at once and everywhere', async () => {
    const { cookie, csrf } = await signIn();
    const out = await anyone('/api/session', { method: 'DELETE', headers: { cookie, 'x-csrf-token': csrf } });
    expect(out.status).toBe(204);
    expect(cookieOf(out)).toContain('vitto_session=;');
    expect((await anyone('/api/session', { headers: { cookie } })).status).toBe(401);
  });

  it('slides: used once in a while it lives on, and after 30 days without use it is over', async () => {
    const { cookie } = await signIn();
    await bed.database.pool.query(
      "update vitto_sessions set last_seen_at = now() - interval '2 hours', expires_at = now() + interval '1 minute'",
    );
    const renewed = await anyone('/api/session', { headers: { cookie } });
    expect(cookieOf(renewed)).toContain('Max-Age=2592000');
    const left = await bed.database.pool.query(
      "select count(*)::int as n from vitto_sessions where expires_at > now() + interval '29 days'",
    );
    expect((left.rows[0] as { n: number }).n).toBe(1);
    await bed.database.pool.query("update vitto_sessions set expires_at = now() - interval '1 second'");
    expect((await anyone('/api/session', { headers: { cookie } })).status).toBe(401);
  });

  it('of a role that may only look changes nothing', async () => {
    await bed.database.pool.query("update vitto_users set role = 'viewer' where id = $1", [
      bed.stranger.userId,
    ]);
    const viewer = createClient(server.url, bed.stranger.token);
    expect((await viewer('/api/conversations')).status).toBe(200);
    expect((await viewer('/api/conversations', { json: {} })).json).toMatchObject({
      status: 403,
      code: 'sign-in.read-only',
    });
  });
});

describe('a personal token', () => {
  it('is shown once, works without cookie and csrf token, and stops when it is deleted or over', async () => {
    const owner = createClient(server.url, bed.owner.token);
    const made = await owner('/api/tokens', { json: { name: 'ci', expiresInDays: 1 } });
    expect(made.json['token']).toMatch(/^vitto_[\w-]{43}$/);
    const id = made.json['id'] as string;
    const client = createClient(server.url, made.json['token'] as string);
    expect((await client('/api/session')).json).toMatchObject({ id: bed.owner.userId, csrfToken: null });
    expect((await owner('/api/tokens')).text).not.toContain(made.json['token']);
    await bed.database.pool.query('update vitto_api_tokens set expires_at = now() where id = $1', [id]);
    expect((await client('/api/session')).status).toBe(401);
    await bed.database.pool.query('update vitto_api_tokens set expires_at = null where id = $1', [id]);
    expect((await client('/api/session')).status).toBe(200);
    expect((await owner(`/api/tokens/${id}`, { method: 'DELETE' })).status).toBe(204);
    expect((await client('/api/session')).status).toBe(401);
    expect((await owner(`/api/tokens/${id}`, { method: 'DELETE' })).status).toBe(404);
  });

  it.each(['Basic abc', 'Bearer', 'Bearer ', 'bearer vitto_', 'vitto_x', 'Bearer a b'])(
    'is not %j',
    async (authorization) => {
      const { cookie } = await signIn();
      const answer = await anyone('/api/session', { headers: { authorization, cookie } });
      expect(answer).toMatchObject({ status: 401 });
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    },
  );
});

describe('the name under which it is asked for', () => {
  it.each(['localhost:1', '127.0.0.1', '[::1]:4800', 'LOCALHOST'])('may be %s on loopback', async (host) => {
    expect(await statusForHost(host)).toBe(200);
  });
  it.each(['evil.example', 'localhost.evil.example', '127.0.0.1.nip.io', '10.0.0.1', 'evil.example:4800'])(
    'may not be %j on loopback',
    async (host) => {
      expect(await statusForHost(host)).toBe(421);
    },
  );
});

describe('a database that is away', () => {
  it('is a 503 with a time to come back, for requests and for readiness; the process lives', async () => {
    const gone = openDatabase({ url: 'postgres://127.0.0.1:9/none' });
    const cut = await bed.startServer({ database: gone, runs: { ...server.runs, database: gone } });
    const client = createClient(cut.url, bed.owner.token);
    for (const path of ['/api/conversations', '/api/events', '/api/session']) {
      const answer = await client(path);
      expect(answer.json).toMatchObject({ status: 503, code: 'database.unavailable' });
      expect(answer.headers.get('retry-after')).toBe('2');
    }
    expect(await client('/readyz')).toMatchObject({ status: 503, json: { status: 'not-ready' } });
    expect(await client('/healthz')).toMatchObject({ status: 200, json: { status: 'ok' } });
    expect(await anyone('/readyz')).toMatchObject({ status: 200, json: { status: 'ready' } });
    await cut.close();
    await gone.pool.end();
  });
});
