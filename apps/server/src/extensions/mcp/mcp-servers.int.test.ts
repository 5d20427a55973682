import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { McpTransport } from '@vitto/contracts';
import { ensureOwner } from '../../identity/index.ts';
import { createTestDatabase } from '../../kernel/database/testing.ts';
import type { Database } from '../../kernel/database/database.ts';
import { newId } from '../../kernel/ids.ts';
import { silentLogger } from '../../kernel/logger.ts';
import { McpServers } from './manage-mcp-servers.ts';
import { createStub, createTestPrograms, type Stub } from './testing/stub.ts';

let database: Database;
let drop: () => Promise<void>;
let owner: string;
let member: string;
let servers: McpServers;
const stubs: Stub[] = [];
const never = new AbortController().signal;

beforeAll(async () => {
  ({ database, drop } = await createTestDatabase());
  owner = (await ensureOwner(database)).id;
  member = newId();
  await database.pool.query("insert into vitto_users (id, name, role) values ($1, 'Ben', 'member')", [
    member,
  ]);
  servers = new McpServers({
    database,
    logger: silentLogger,
    programs: createTestPrograms(),
    version: '0',
    fillSecrets: (_, value) => Promise.resolve(fill(value)),
    signals: { listen: () => () => undefined, changed: () => Promise.resolve() },
  });
});
afterEach(async () => {
  await database.pool.query('delete from vitto_mcp_servers');
  for (const stub of stubs.splice(0)) await stub.remove();
});
afterAll(() => drop());

function fill<T>(value: T): T {
  return JSON.parse(JSON.stringify(value).replaceAll('{{secret:TOKEN}}', 'the-value')) as T;
}
async function stubOf(scenario: string): Promise<Stub> {
  const stub = await createStub(scenario);
  stubs.push(stub);
  return stub;
}
const add = (userId: string, transport: McpTransport, name = 'stub') =>
  servers.create(userId, { name, transport, domain: 'knowledge', risk: 'write' });
const http: McpTransport = { kind: 'http', url: 'https://mcp.example.com/mcp', headers: {} };

describe('a server from its first day', () => {
  it('is new, shows what it offers, and is ready once that is approved', async () => {
    const stub = await stubOf('quiet');
    const created = await add(owner, stub.transport);
    expect(created).toMatchObject({ state: 'new', approvedTools: [], offeredTools: null, checkedAt: null });

    const checked = await servers.check(owner, created.id, never);
    expect(checked).toMatchObject({ state: 'new', lastError: null, approvedHash: null });
    expect(checked.offeredTools?.map(({ toolName }) => toolName)).toContain('mcp__stub__a-splits');

    const ready = await servers.approve(owner, created.id, checked.offeredHash ?? '');
    expect(ready).toMatchObject({ state: 'ready', offeredTools: null, offeredHash: null });
    expect(ready.approvedHash).toBe(checked.offeredHash);
    expect(ready.approvedTools).toEqual(checked.offeredTools);

    const again = await servers.check(owner, created.id, never);
    expect(again).toMatchObject({ state: 'ready', offeredTools: null, approvedHash: ready.approvedHash });
    expect(stub.pids()).toHaveLength(2);
  });

  it('is approved only as it was seen', async () => {
    const { transport } = await stubOf('quiet');
    const { id } = await add(owner, transport);
    await expect(servers.approve(owner, id, 'anything')).rejects.toMatchObject({ code: 'mcp.offer-changed' });
    const { offeredHash } = await servers.check(owner, id, never);
    await expect(servers.approve(owner, id, `${offeredHash}x`)).rejects.toMatchObject({ status: 409 });
    await servers.approve(owner, id, offeredHash ?? '');
    // Sent twice, it says the same.
    expect(await servers.approve(owner, id, offeredHash ?? '')).toMatchObject({ state: 'ready' });
  });

  it('tells why it cannot be reached, and that it can again', async () => {
    const dead = await stubOf('dead');
    const { id } = await add(owner, dead.transport);
    const failing = await servers.check(owner, id, never);
    expect(failing).toMatchObject({ state: 'failing', lastError: { code: 'mcp.unavailable' } });
    expect(failing.lastError?.message).toContain('cannot read my settings');
    const { transport } = await stubOf('quiet');
    expect(await servers.update(owner, id, { transport })).toMatchObject({ state: 'new', lastError: null });
    expect(await servers.check(owner, id, never)).toMatchObject({ state: 'new', lastError: null });
  });

  it('is switched off and on without another approval, but another transport needs one', async () => {
    const { transport } = await stubOf('quiet');
    const { id } = await add(owner, transport);
    const { offeredHash } = await servers.check(owner, id, never);
    await servers.approve(owner, id, offeredHash ?? '');
    expect(await servers.update(owner, id, { isEnabled: false })).toMatchObject({ state: 'off' });
    expect(await servers.update(owner, id, { isEnabled: true })).toMatchObject({ state: 'ready' });
    expect(await servers.update(owner, id, { transport, risk: 'read' })).toMatchObject({
      state: 'ready',
      risk: 'read',
    });
    const other = { ...transport, args: [...transport.args, '--other'] };
    expect(await servers.update(owner, id, { transport: other })).toMatchObject({
      state: 'new',
      approvedTools: [],
      approvedHash: null,
    });
  });

  it('gets its secrets at the last moment, and is stored with their names', async () => {
    const stub = await stubOf('quiet');
    const env = { ...stub.transport.env, TOKEN: '{{secret:TOKEN}}' };
    const { id } = await add(owner, { ...stub.transport, env });
    expect((await servers.check(owner, id, never)).lastError).toBeNull();
    expect((await servers.find(owner, id)).transport).toMatchObject({ env: { TOKEN: '{{secret:TOKEN}}' } });
  });
});

describe('what is refused', () => {
  it('is a program from anybody but the owner, also as a change', async () => {
    const { transport } = await stubOf('quiet');
    const refusal = { code: 'mcp.stdio-not-allowed', status: 403 };
    await expect(add(member, transport)).rejects.toMatchObject(refusal);
    const { id } = await add(member, http);
    await expect(servers.update(member, id, { transport })).rejects.toMatchObject(refusal);
  });

  it('is a program that a member has all the same, when it would be started', async () => {
    const stub = await stubOf('quiet');
    const { id } = await add(member, http);
    await database.pool.query('update vitto_mcp_servers set transport = $2 where id = $1', [
      id,
      JSON.stringify(stub.transport),
    ]);
    const checked = await servers.check(member, id, never);
    expect(checked.lastError).toMatchObject({ code: 'mcp.stdio-not-allowed' });
    expect(stub.pids()).toHaveLength(0);
  });

  it('is a name that is taken, by the same user only', async () => {
    await add(owner, http, 'same');
    await expect(add(owner, http, 'same')).rejects.toMatchObject({ code: 'mcp.name-taken', status: 409 });
    await expect(add(member, http, 'same')).resolves.toMatchObject({ name: 'same' });
  });

  const key = `ghp_${'a1B2'.repeat(9)}`;
  it.each<[string, McpTransport, string]>([
    ['a header', { ...http, headers: { 'X-Key': key } }, 'transport.headers.X-Key'],
    [
      'a header of authorization without a known shape',
      { ...http, headers: { Authorization: 'Bearer 0123456789abcdef' } },
      'transport.headers.Authorization',
    ],
    ['the URL', { ...http, url: `https://u:pa55word@mcp.example.com/` }, 'transport.url'],
    ['the environment', { kind: 'stdio', command: 'x', args: [], env: { K: key } }, 'transport.env.K'],
    ['an argument', { kind: 'stdio', command: 'x', args: ['--key', key], env: {} }, 'transport.args.1'],
  ])('is a raw secret in %s, naming the place', async (_, transport, path) => {
    await expect(add(owner, transport)).rejects.toMatchObject({
      code: 'mcp.raw-secret',
      hint: expect.stringContaining('{{secret:NAME}}'),
      errors: [{ path }],
    });
  });
  it.each<McpTransport>([
    { kind: 'http', url: 'https://a.test/', headers: { Authorization: 'Bearer {{secret:GITHUB_TOKEN}}' } },
    {
      kind: 'stdio',
      command: 'x',
      args: ['--key={{secret:K}}'],
      env: { TOKEN: '{{secret:A_LONG_NAME_OF_A_TOKEN}}' },
    },
  ])('is not the name of a secret', async (transport) => {
    await expect(add(owner, transport)).resolves.toMatchObject({ transport });
  });

  it("is whatever is another user's", async () => {
    const { id } = await add(owner, http);
    const missing = { code: 'mcp-server.not-found', status: 404 };
    await expect(servers.find(member, id)).rejects.toMatchObject(missing);
    await expect(servers.update(member, id, { risk: 'read' })).rejects.toMatchObject(missing);
    await expect(servers.check(member, id, never)).rejects.toMatchObject(missing);
    await expect(servers.approve(member, id, 'x')).rejects.toMatchObject(missing);
    await expect(servers.remove(member, id)).rejects.toMatchObject(missing);
    expect(await servers.list(member)).toEqual([]);
    await servers.remove(owner, id);
    await expect(servers.find(owner, id)).rejects.toMatchObject(missing);
  });
});
