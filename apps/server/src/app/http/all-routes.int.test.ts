import { TOKEN_SCOPES } from '@vitto/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApiToken } from '../../identity/index.ts';
import { newId } from '../../kernel/ids.ts';
import { silentLogger } from '../../kernel/logger.ts';
import { FakeSandboxHost } from '../../sandbox/host/testing-fake-host.ts';
import { SandboxHosts } from '../../sandbox/index.ts';
import { createClient, type Answer } from './testing/api-client.ts';
import { createHttpTestbed, type HttpTestbed, type TestServer } from './testing/http-testbed.ts';
import { seedOneOfEach, type SeededIds } from './testing/seed.ts';
import type { OpenApiDocument } from './openapi.ts';

let bed: HttpTestbed;
let server: TestServer;
let owned: SeededIds;
let document: OpenApiDocument;
beforeAll(async () => {
  bed = await createHttpTestbed();
  const host = new FakeSandboxHost();
  server = await bed.startServer({ sandboxHosts: new SandboxHosts({ hosts: [host], logger: silentLogger }) });
  owned = await seedOneOfEach(bed, bed.owner.userId, host);
  document = (await createClient(server.url)('/api/openapi.json')).json as unknown as OpenApiDocument;
});
afterAll(() => bed.close());

interface Route {
  method: string;
  path: string;
}
/** Every route of the server, from its own description: a new one is walked without anybody thinking of it. */
function allRoutes(): Route[] {
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => ({ method: method.toUpperCase(), path })),
  );
}
/** Routes with a body of JSON. An upload takes the bytes of a file, and has tests of its own. */
const takesBody = ({ method, path }: Route) => {
  const body = document.paths[path]?.[method.toLowerCase()]?.requestBody as { content: object } | undefined;
  return body !== undefined && 'application/json' in body.content;
};
const BODY_MAY_BE_ABSENT = [
  'POST /api/tasks/{id}/cancel',
  'POST /api/demo',
  'POST /api/sign-in-codes',
  'POST /api/webhooks/{id}/test',
  'POST /api/webhooks/{id}/deliveries/{deliveryId}/retry',
  'POST /api/push-subscriptions/{id}/test',
  'POST /api/mcp-servers/{id}/check',
];
const OPEN = ['GET /healthz', 'GET /readyz', 'POST /api/session'];
const name = (route: Route) => `${route.method} ${route.path}`;

const HOST_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl';

/** Bodies that pass the schema, so that a refusal is for whom it asks and not for what it sends. */
const BODIES: Record<string, unknown> = {
  'POST /api/conversations': {},
  'PATCH /api/conversations/{id}': { title: 'taken' },
  'POST /api/conversations/{id}/messages': { text: 'hi' },
  'POST /api/tasks': { prompt: 'hi' },
  'POST /api/tasks/{id}/messages': { text: 'hi' },
  'POST /api/tasks/{id}/cancel': {},
  'POST /api/approvals/{id}/decision': { decision: 'approved' },
  'POST /api/tokens': { name: 'x' },
  'POST /api/demo': {},
  'POST /api/sign-in-codes': {},
  'POST /api/session': { code: 'x' },
  'PATCH /api/settings': { language: 'es' },
  'PUT /api/secrets/{name}': { value: 'a secret of the walk' },
  'POST /api/deploy-keys': { repository: 'git@walk.test:a.git', hostKeys: [HOST_KEY] },
  'POST /api/deploy-keys/host-keys': { repository: 'git@walk.invalid:a.git' },
  'PUT /api/models/providers/{name}': { apiKey: 'a key of the walk' },
  'POST /api/models/test': { model: 'openai/none' },
  'POST /api/webhooks': { url: 'https://receiver.test', events: ['task.completed'] },
  'PATCH /api/webhooks/{id}': { description: 'taken' },
  'POST /api/webhooks/{id}/test': {},
  'POST /api/webhooks/{id}/deliveries/{deliveryId}/retry': {},
  'POST /api/push-subscriptions': { endpoint: 'https://push.test/new', keys: { p256dh: 'x', auth: 'y' } },
  'POST /api/push-subscriptions/{id}/test': {},
  'PUT /api/tasks/{id}/verdict': { success: false },
  'PUT /api/skills/{name}': { text: '---\nname: a-skill\ndescription: Of the walk.\n---\n' },
  'PATCH /api/skills/{name}': { isEnabled: true },
  'POST /api/mcp-servers': { name: 'walk', transport: { kind: 'http', url: 'https://mcp.test' } },
  'PATCH /api/mcp-servers/{id}': { risk: 'write' },
  'POST /api/mcp-servers/{id}/check': {},
  'POST /api/mcp-servers/{id}/approve': { offeredHash: 'of the walk' },
  'POST /api/sandbox/{id}/exec': { command: 'true' },
};

function idOf(path: string, ids: SeededIds): string {
  const thing = path.split('/')[2]?.replace(/s$/, '') as keyof SeededIds;
  const id = ids[thing];
  if (id === undefined) throw new Error(`the walk knows no ${thing}; seed one for ${path}`);
  return id;
}

/** What a token with one scope may reach. The first two give all scopes away, so that no one of them suffices. */
function scopesOf(route: Route): string[] {
  if (['POST /api/tokens', 'POST /api/sign-in-codes'].includes(name(route))) return [];
  if (route.method === 'GET') return ['read'];
  if (route.path.startsWith('/api/approvals/')) return ['approve'];
  const isRun =
    /^\/(v1|api\/(conversations|tasks|artifacts|attachments|demo|models\/test|sandbox\/\{id\}\/exec))(\/|$)/.test(
      route.path,
    );
  return [isRun ? 'run' : 'manage'];
}

/** A name such as the route takes. */
function nameIn(path: string): string {
  if (path.includes('/skills/')) return 'a-skill';
  if (path.includes('/images/')) return 'minimal';
  return path.includes('/providers/') ? 'openrouter' : 'A_SECRET';
}

function addressOf({ path }: Route, id?: string): string {
  return path
    .replace('{id}', id ?? (path.includes('{id}') ? idOf(path, owned) : ''))
    .replace('{name}', nameIn(path))
    .replace('{deliveryId}', owned.delivery)
    .replace(/\/ssh$/, '/ssh?publicKey=k');
}

async function call(route: Route, token: string | undefined, id?: string): Promise<Answer> {
  const json = BODIES[name(route)];
  return createClient(server.url, token)(addressOf(route, id), {
    method: route.method,
    ...(json === undefined ? {} : { json }),
  });
}

function expectProblem(answer: Answer, status: number): void {
  expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
  expect(answer.status).toBe(status);
  expect(answer.json).toMatchObject({
    status,
    code: expect.any(String),
    title: expect.any(String),
    type: expect.any(String),
  });
}

describe('every route', () => {
  it('is described, and there are as many as are meant', () => {
    expect(document.openapi).toBe('3.1.0');
    expect(allRoutes().map(name).sort()).toMatchInlineSnapshot(`
      [
        "DELETE /api/conversations/{id}",
        "DELETE /api/deploy-keys/{id}",
        "DELETE /api/mcp-servers/{id}",
        "DELETE /api/models/providers/{name}",
        "DELETE /api/push-subscriptions/{id}",
        "DELETE /api/secrets/{name}",
        "DELETE /api/session",
        "DELETE /api/skills/{name}",
        "DELETE /api/tokens/{id}",
        "DELETE /api/webhooks/{id}",
        "GET /api/approvals",
        "GET /api/approvals/{id}",
        "GET /api/artifacts/{id}",
        "GET /api/artifacts/{id}/content",
        "GET /api/audit",
        "GET /api/audit/actions",
        "GET /api/audit/verify",
        "GET /api/conversations",
        "GET /api/conversations/{id}",
        "GET /api/conversations/{id}/events",
        "GET /api/conversations/{id}/messages",
        "GET /api/costs",
        "GET /api/deploy-keys",
        "GET /api/events",
        "GET /api/mcp-servers",
        "GET /api/mcp-servers/{id}",
        "GET /api/models",
        "GET /api/outcomes",
        "GET /api/push-subscriptions",
        "GET /api/sandbox",
        "GET /api/search",
        "GET /api/secrets",
        "GET /api/session",
        "GET /api/settings",
        "GET /api/settings/limits",
        "GET /api/skills",
        "GET /api/skills/{name}",
        "GET /api/skills/{name}/files",
        "GET /api/system",
        "GET /api/tasks",
        "GET /api/tasks/{id}",
        "GET /api/tasks/{id}/events",
        "GET /api/tasks/{id}/steps",
        "GET /api/tokens",
        "GET /api/webhooks",
        "GET /api/webhooks/{id}/deliveries",
        "GET /healthz",
        "GET /readyz",
        "PATCH /api/conversations/{id}",
        "PATCH /api/mcp-servers/{id}",
        "PATCH /api/settings",
        "PATCH /api/skills/{name}",
        "PATCH /api/webhooks/{id}",
        "POST /api/approvals/{id}/decision",
        "POST /api/attachments",
        "POST /api/conversations",
        "POST /api/conversations/{id}/messages",
        "POST /api/demo",
        "POST /api/deploy-keys",
        "POST /api/deploy-keys/host-keys",
        "POST /api/mcp-servers",
        "POST /api/mcp-servers/{id}/approve",
        "POST /api/mcp-servers/{id}/check",
        "POST /api/models/test",
        "POST /api/push-subscriptions",
        "POST /api/push-subscriptions/{id}/test",
        "POST /api/sandbox/images/{name}/build",
        "POST /api/sandbox/{id}/destroy",
        "POST /api/sandbox/{id}/exec",
        "POST /api/sandbox/{id}/forget",
        "POST /api/sandbox/{id}/snapshot",
        "POST /api/sandbox/{id}/ssh",
        "POST /api/session",
        "POST /api/sign-in-codes",
        "POST /api/tasks",
        "POST /api/tasks/{id}/cancel",
        "POST /api/tasks/{id}/messages",
        "POST /api/tokens",
        "POST /api/webhooks",
        "POST /api/webhooks/{id}/deliveries/{deliveryId}/retry",
        "POST /api/webhooks/{id}/test",
        "PUT /api/models/providers/{name}",
        "PUT /api/secrets/{name}",
        "PUT /api/skills/{name}",
        "PUT /api/tasks/{id}/verdict",
      ]
    `);
  });

  it('refers to nothing that is not there, and names its errors and streams', () => {
    const text = JSON.stringify(document);
    for (const [, path] of text.matchAll(/"\$ref":"#\/([^"]+)"/g)) {
      const target = (path as string)
        .split('/')
        .reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], document);
      expect(target, path).toBeDefined();
    }
    for (const path of ['/api/events', '/api/tasks/{id}/events']) {
      const ok = document.paths[path]?.['get']?.responses['200'] as { content: object };
      expect(Object.keys(ok.content).sort()).toEqual(['application/json', 'text/event-stream']);
    }
    for (const operations of Object.values(document.paths)) {
      for (const operation of Object.values(operations)) expect(operation.responses['default']).toBeDefined();
    }
  });

  it('has a body here when it takes one', () => {
    const withBody = allRoutes().filter(takesBody);
    expect(withBody.map(name).filter((route) => BODIES[route] === undefined)).toEqual([]);
  });

  it('asks for sign-in, except those that say otherwise', async () => {
    for (const route of allRoutes()) {
      if (OPEN.includes(name(route))) continue;
      const answer = await call(route, undefined);
      expect(answer.status, name(route)).toBe(401);
      expectProblem(answer, 401);
      expectProblem(await call(route, `vitto_${'x'.repeat(43)}`), 401);
    }
  });

  it('gives another user nothing, and says no more than of an id that does not exist', async () => {
    for (const route of allRoutes().filter(({ path }) => path.includes('{id}'))) {
      const theirs = await call(route, bed.stranger.token);
      expect(theirs.status, name(route)).toBe(404);
      expectProblem(theirs, 404);
      const unknown = await call(route, bed.stranger.token, '01890000-0000-7000-8000-000000000000');
      expect(theirs.json, name(route)).toEqual(unknown.json);
    }
    // Nothing of the owner's was changed by the attempts.
    const mine = createClient(server.url, bed.owner.token);
    expect((await mine(`/api/conversations/${owned.conversation}`)).json).toMatchObject({ title: 'seeded' });
    expect((await mine(`/api/approvals/${owned.approval}`)).json).toMatchObject({ state: 'pending' });
    expect((await mine(`/api/tasks/${owned.task}`)).json).toMatchObject({ state: 'running' });
  });

  it('asks a token for the one scope that it is for, and names it', async () => {
    const userId = newId();
    await bed.database.pool.query("insert into vitto_users (id, name, role) values ($1, 'Ada', 'admin')", [
      userId,
    ]);
    const tokens = await Promise.all(
      TOKEN_SCOPES.map(async (scope) => {
        const made = await createApiToken(bed.database, userId, {
          name: scope,
          scopes: [scope],
        });
        return { scope, token: made.token };
      }),
    );
    for (const route of allRoutes()) {
      if (OPEN.includes(name(route))) continue;
      const taken: string[] = [];
      for (const { scope, token } of tokens) {
        const answer = await call(route, token);
        if (answer.json['code'] !== 'sign-in.scope') taken.push(scope);
        else expect(answer.json['title'], name(route)).toMatch(/`(read|run|approve|manage)`/);
      }
      expect(taken, name(route)).toEqual(scopesOf(route));
    }
  });

  it('lets no token make one that may do more than itself', async () => {
    const { token } = await createApiToken(bed.database, bed.owner.userId, {
      name: 'x',
      scopes: ['read', 'manage'],
    });
    const make = (body: object) => createClient(server.url, token)('/api/tokens', { json: body });
    expect((await make({ name: 'y', scopes: ['read', 'run'] })).json['code']).toBe('sign-in.scope');
    expect((await make({ name: 'y' })).json['code']).toBe('sign-in.scope');
    expect((await make({ name: 'y', scopes: ['manage', 'read'] })).json['scopes']).toEqual([
      'read',
      'manage',
    ]);
  });

  it("shows another user's lists without what is not theirs", async () => {
    const stranger = createClient(server.url, bed.stranger.token);
    for (const path of [
      '/api/conversations',
      '/api/tasks',
      '/api/outcomes',
      '/api/approvals',
      '/api/events',
    ]) {
      expect((await stranger(path)).json['items'], path).toEqual([]);
    }
    const tokens = (await stranger('/api/tokens')).json['items'] as { name: string }[];
    expect(tokens.map((token) => token.name)).toEqual(['test']);
    const filtered = await stranger(`/api/tasks?conversationId=${owned.conversation}`);
    expect(filtered.json['items']).toEqual([]);
  });

  it('gives 404 for an id that is none', async () => {
    for (const route of allRoutes().filter(({ path }) => path.includes('{id}'))) {
      for (const id of [
        '1',
        'x'.repeat(99),
        '%00',
        '..%2f..%2fetc',
        "';drop--",
        '01890000-0000-7000-8000-00000000000z',
      ]) {
        const answer = await call(route, bed.owner.token, id);
        expect(answer.status, `${name(route)} ${id}`).toBe(404);
        expectProblem(answer, 404);
      }
    }
  });

  it('refuses every wrong body without a fault of its own, and names the fields', async () => {
    const WRONG: unknown[] = [null, [], 'text', 7, true, { unknown: 1 }, { __proto: 1 }, ...wrongFields()];
    for (const route of allRoutes().filter(takesBody)) {
      for (const json of WRONG) {
        const answer = await createClient(server.url, bed.owner.token)(addressOf(route, owned.conversation), {
          method: route.method,
          json,
        });
        const what = `${name(route)} ${JSON.stringify(json)}`;
        if (BODY_MAY_BE_ABSENT.includes(name(route)) && json === null) continue;
        expect(answer.status, what).toBe(422);
        expectProblem(answer, 422);
        expect(answer.json['errors'], what).toEqual(
          expect.arrayContaining([{ path: expect.any(String), message: expect.any(String) }]),
        );
      }
    }
  });

  it.each([
    ['broken JSON', '{"text": ', 400, 'request.bad-json'],
    [
      'a body that is no UTF-8',
      Buffer.from([0x7b, 0x22, 0x61, 0xff, 0x22, 0x7d]),
      400,
      'request.bad-encoding',
    ],
    ['a cut surrogate in UTF-8', Buffer.from([0x22, 0xed, 0xa0, 0xbd, 0x22]), 400, 'request.bad-encoding'],
    ['a key that reaches a prototype', '{"text":"x","__proto__":{"isAdmin":true}}', 400, 'request.bad-json'],
    ['a constructor key', '{"text":"x","constructor":{"prototype":{"a":1}}}', 400, 'request.bad-json'],
    ['more than 1 MiB', JSON.stringify({ text: 'x'.repeat(1_100_000) }), 413, 'request.too-large'],
  ])('answers %s with its own problem', async (_, body, status, code) => {
    for (const route of allRoutes().filter((route) => BODIES[name(route)] !== undefined)) {
      // Folders may be larger than anything else.
      if (status === 413 && route.path.startsWith('/api/skills')) continue;
      const answer = await createClient(server.url, bed.owner.token)(addressOf(route, owned.conversation), {
        method: route.method,
        body,
      });
      expectProblem(answer, status);
      expect(answer.json['code']).toBe(code);
    }
  });

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/xml',
    'nonsense',
  ])('refuses a body of type %s', async (type) => {
    for (const route of allRoutes().filter((route) => BODIES[name(route)] !== undefined)) {
      const answer = await createClient(server.url, bed.owner.token)(addressOf(route, owned.conversation), {
        method: route.method,
        body: '{"text":"x"}',
        headers: { 'content-type': type },
      });
      expectProblem(answer, 415);
    }
  });

  it('refuses a compressed body', async () => {
    const answer = await createClient(server.url, bed.owner.token)('/api/tasks', {
      body: '{"prompt":"x"}',
      headers: { 'content-encoding': 'gzip' },
    });
    expectProblem(answer, 415);
  });

  it.each([
    'limit=0',
    'limit=-1',
    'limit=201000',
    'limit=abc',
    'limit=',
    'limit=1&limit=2',
    'cursor=x',
    'cursor=bnVsbA',
    'cursor=WzEsMl0',
    `cursor=${'x'.repeat(600)}`,
    'state=nope',
    'state[]=x',
  ])('refuses the query %s where a list takes it', async (query) => {
    const owner = createClient(server.url, bed.owner.token);
    for (const path of [
      '/api/conversations',
      '/api/tasks',
      '/api/approvals',
      `/api/conversations/${owned.conversation}/messages`,
    ]) {
      const answer = await owner(`${path}?${query}`);
      if (answer.status === 200 && query.startsWith('state')) continue;
      expectProblem(answer, 422);
      expect(JSON.stringify(answer.json['errors'])).toContain(`query.${query.split(/[=[]/)[0]}`);
    }
  });

  it('answers addresses that do not exist with a problem, under /api only', async () => {
    const owner = createClient(server.url, bed.owner.token);
    for (const path of ['/api', '/api/', '/api/nothing', '/api/tasks/', '/api/index.html', '/api/../api/x']) {
      expectProblem(await owner(path), 404);
    }
    expectProblem(await owner('/api/tasks', { method: 'PUT', json: {} }), 404);
    expectProblem(await owner('/api/%zz'), 400);
  });
});

function wrongFields(): unknown[] {
  const values = [null, 7, {}, [], '', 'x'.repeat(300_000)];
  const fields = [
    'text',
    'prompt',
    'name',
    'decision',
    'code',
    'title',
    'language',
    'allowedPaths',
    'budget',
    'models',
  ];
  return [
    ...fields.flatMap((field) => values.map((value) => ({ [field]: value, alsoUnknown: 1 }))),
    { allowedPaths: ['notes\0.txt'], text: 'x', prompt: 'x', extra: 1 },
  ];
}
