import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createFolderCheck } from '../allowed-folders.ts';
import { createClient, type Answer, type Call } from './testing/api-client.ts';
import { createHttpTestbed, type HttpTestbed } from './testing/http-testbed.ts';

let bed: HttpTestbed;
let folder: string;
let owner: (path: string, call?: Call) => Promise<Answer>;
let other: typeof owner;
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'vitto-whose-')));
  bed = await createHttpTestbed();
  const { runs } = await bed.startServer();
  const check = createFolderCheck(bed.database, []);
  const server = await bed.startServer({ runs: { ...runs, resolveAllowedPaths: check } });
  owner = createClient(server.url, bed.owner.token);
  other = createClient(server.url, bed.stranger.token);
});
afterEach(() => setRole('member'));
afterAll(async () => {
  await bed.close();
  await rm(folder, { recursive: true });
});

const setRole = (role: string) =>
  bed.database.pool.query('update vitto_users set role = $2 where id = $1', [bed.stranger.userId, role]);

/** Every way to have a folder of the machine read. */
const WAYS: [string, (as: typeof owner, paths: string[]) => Promise<Answer>][] = [
  [
    'for every conversation',
    (as, allowedPaths) => as('/api/settings', { method: 'PATCH', json: { allowedPaths } }),
  ],
  ['with a conversation', (as, allowedPaths) => as('/api/conversations', { json: { allowedPaths } })],
  [
    'for a conversation that is there',
    async (as, allowedPaths) => {
      const { json } = await as('/api/conversations', { json: {} });
      return as(`/api/conversations/${String(json['id'])}`, { method: 'PATCH', json: { allowedPaths } });
    },
  ],
  ['with a task', (as, allowedPaths) => as('/api/tasks', { json: { prompt: 'read it', allowedPaths } })],
];

describe.each(WAYS)('a folder of the machine, allowed %s', (_, allow) => {
  it('is refused to a member, who hears whom to ask', async () => {
    expect(await allow(other, [folder])).toMatchObject({
      status: 403,
      json: { code: 'folders.not-allowed', hint: expect.stringContaining('Ask the owner') },
    });
  });

  it('is no matter where none is named', async () => {
    expect((await allow(other, [])).status).toBeLessThan(300);
  });

  it('is taken from the owner and an admin', async () => {
    expect((await allow(owner, [folder])).status).toBeLessThan(300);
    await setRole('admin');
    expect((await allow(other, [folder])).status).toBeLessThan(300);
    await other('/api/settings', { method: 'PATCH', json: { allowedPaths: [] } });
  });
});

it('what was allowed to somebody stays, and can be taken away, when they are a member', async () => {
  await setRole('admin');
  const { json } = await other('/api/conversations', { json: { allowedPaths: [folder] } });
  await setRole('member');
  const change = (allowedPaths: string[]) =>
    other(`/api/conversations/${String(json['id'])}`, { method: 'PATCH', json: { allowedPaths } });
  expect((await change([folder])).json['allowedPaths']).toEqual([folder]);
  expect((await change([])).json['allowedPaths']).toEqual([]);
  expect(await change([folder])).toMatchObject({ status: 403 });
});
