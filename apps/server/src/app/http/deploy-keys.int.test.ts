import { afterAll, beforeAll, expect, it } from 'vitest';
import { DeployKeys } from '../../identity/index.ts';
import { createTestVault } from '../../identity/vault/testing.ts';
import { silentLogger } from '../../kernel/logger.ts';
import { createDial } from '../../kernel/network/dial.ts';
import { makeKeyPair } from '../../kernel/ssh/private-key.ts';
import { createClient } from './testing/api-client.ts';
import { createHttpTestbed, type HttpTestbed, type TestServer } from './testing/http-testbed.ts';

let bed: HttpTestbed;
let server: TestServer;
let deployKeys: DeployKeys;
beforeAll(async () => {
  bed = await createHttpTestbed();
  deployKeys = new DeployKeys({
    database: bed.database,
    vault: createTestVault(),
    signals: { changed: async () => undefined },
    logger: silentLogger,
    dial: createDial({ resolve: async () => [] }),
  });
  server = await bed.startServer({ deployKeys });
});
afterAll(() => bed.close());

const HOST_KEY = makeKeyPair().publicKey;
const as = (who: 'owner' | 'stranger') => createClient(server.url, bed[who].token);
const add = (body: object, who: 'owner' | 'stranger' = 'owner') =>
  as(who)('/api/deploy-keys', { method: 'POST', json: body });

it('makes a key of which only the public half leaves', async () => {
  const made = await add({ repository: 'git@forge.test:org/made.git', hostKeys: [`forge.test ${HOST_KEY}`] });
  expect(made.status).toBe(201);
  expect(made.json).toMatchObject({
    repository: 'git@forge.test:org/made.git',
    publicKey: expect.stringMatching(/^ssh-ed25519 AAAA\S+ vitto$/),
    hostKeys: [{ type: 'ssh-ed25519', fingerprint: expect.stringMatching(/^SHA256:/) }],
    lastUsedAt: null,
  });
  const [opened] = await deployKeys.open(bed.owner.userId);
  expect(opened).toMatchObject({
    repository: 'ssh://git@forge.test/~/org/made.git',
    privateKey: expect.stringContaining('-----BEGIN OPENSSH PRIVATE KEY-----'),
    mayBePrivate: true,
  });
  const list = await as('owner')('/api/deploy-keys');
  expect(list.text).not.toContain('PRIVATE KEY');
  expect(list.text).not.toContain(opened?.privateKey.split('\n')[2] ?? 'none');
  const stored = await bed.database.pool.query('select sealed from vitto_deploy_keys');
  expect((stored.rows[0] as { sealed: Buffer }).sealed.includes('PRIVATE')).toBe(false);
});

it('takes a key that was pasted, once for each repository however it is written', async () => {
  const { privateKey, publicKey } = makeKeyPair();
  const body = { privateKey, hostKeys: [HOST_KEY] };
  const added = await add({ ...body, repository: 'ssh://me@forge.test:2222/srv/a.git' });
  expect(added.json).toMatchObject({ publicKey, repository: 'ssh://me@forge.test:2222/srv/a.git' });
  const again = await add({ ...body, repository: 'git+ssh://me@Forge.test:2222/srv/a.git/' });
  expect([again.status, again.json['code']]).toEqual([409, 'deploy-key.exists']);
  // Another user's repository of the same name is another one.
  expect((await add({ ...body, repository: 'ssh://me@forge.test:2222/srv/a.git' }, 'stranger')).status).toBe(
    201,
  );
  expect((await deployKeys.open(bed.stranger.userId)).map((key) => key.mayBePrivate)).toEqual([false]);
});

it.each([
  [{ repository: 'https://github.com/a/b.git', hostKeys: [HOST_KEY] }, 'repository.bad-address'],
  [{ repository: 'git@forge.test:a/b.git' }, 'deploy-key.host-keys-needed'],
  [{ repository: 'git@forge.test:a/b.git', hostKeys: ['nonsense'] }, 'host-key.unreadable'],
  [
    { repository: 'git@forge.test:a/b.git', hostKeys: [HOST_KEY], privateKey: HOST_KEY },
    'private-key.is-public',
  ],
  // What is published is still read from the server; here no name leads anywhere.
  [{ repository: 'git@github.com:a/b.git' }, 'network.dns'],
])('refuses %j', async (body, code) => {
  const refused = await add(body);
  expect(refused.json).toMatchObject({ code, hint: expect.any(String) });
});

it('shows, deletes and opens the keys of their own user alone', async () => {
  const mine = (await as('owner')('/api/deploy-keys')).json['items'] as { id: string }[];
  const id = mine[0]?.id ?? '';
  const remove = (who: 'owner' | 'stranger') => as(who)(`/api/deploy-keys/${id}`, { method: 'DELETE' });
  expect((await remove('stranger')).status).toBe(404);
  expect((await remove('owner')).status).toBe(204);
  expect((await remove('owner')).status).toBe(404);
  const audit = await bed.database.pool.query(
    `select action, detail from vitto_audit_events where action like 'deploy-key.%' order by seq`,
  );
  expect(audit.rows).toContainEqual({
    action: 'deploy-key.added',
    detail: { repository: 'git@forge.test:org/made.git' },
  });
  expect(JSON.stringify(audit.rows)).toContain('deploy-key.deleted');
  expect(JSON.stringify(audit.rows)).not.toContain('PRIVATE');
});

it('masks a private half wherever it turns up', async () => {
  const { privateKey } = makeKeyPair();
  const other = await bed.startServer();
  const send = (path: string, json: object) =>
    createClient(other.url, bed.owner.token)(path, { method: 'POST', json });
  expect(
    (await send('/api/deploy-keys', { repository: 'git@m.test:a', privateKey, hostKeys: [HOST_KEY] })).status,
  ).toBe(201);
  const line = privateKey.split('\n')[2] ?? '';
  await send('/api/tasks', { prompt: `what is ${line}?` });
  const found = await bed.database.pool.query(
    `select payload::text as text from vitto_task_events where payload::text like '%what is%'`,
  );
  expect(JSON.stringify(found.rows)).toContain('masked');
  expect(JSON.stringify(found.rows)).not.toContain(line);
});
