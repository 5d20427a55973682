import { chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { joinProcesses } from '../../kernel/process-registry.store.ts';
import { createTestDatabase } from '../../kernel/database/testing.ts';
import { silentLogger } from '../../kernel/logger.ts';
import {
  DeployKeys,
  ensureOwner,
  IDENTITY_SEALED,
  ModelProviders,
  openVault,
  rotateMasterKey,
} from '../index.ts';
import type { SealedTable } from './sealed-table.ts';
import { createTestSecrets } from './testing.ts';

let bed: Awaited<ReturnType<typeof createTestDatabase>>;
let home: string;
let userId: string;
beforeEach(async () => {
  bed = await createTestDatabase();
  home = await mkdtemp(join(tmpdir(), 'vitto-rotation-'));
  userId = (await ensureOwner(bed.database)).id;
});
afterEach(async () => {
  await bed.drop();
  await rm(home, { recursive: true });
});

const HOST_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl';
const rotate = (tables: readonly SealedTable[] = IDENTITY_SEALED) =>
  rotateMasterKey(bed.database, { home, setting: null, tables });

async function open() {
  const vault = await openVault({ home, setting: null });
  const deps = { database: bed.database, vault, logger: silentLogger };
  return {
    vault,
    secrets: createTestSecrets(bed.database, vault),
    providers: new ModelProviders(deps),
    deployKeys: new DeployKeys({ ...deps, signals: { changed: async () => undefined } }),
  };
}

async function fill(secrets: number): Promise<void> {
  const opened = await open();
  for (let n = 0; n < secrets; n++) await opened.secrets.set(userId, `S${n}`, `value ${n}`);
  await opened.providers.set('openai', { apiKey: 'sk-of-a-provider-1234' });
  await opened.providers.set('ollama', { baseUrl: 'http://127.0.0.1:1' });
  await opened.deployKeys.add(userId, { repository: 'git@forge.test:a', hostKeys: [HOST_KEY] });
}

async function expectAll(secrets: number): Promise<void> {
  const opened = await open();
  const names = Array.from({ length: secrets }, (_, n) => `{{secret:S${n}}}`);
  expect(await opened.secrets.fill(userId, names)).toEqual(names.map((_, n) => `value ${n}`));
  expect((await opened.providers.read()).find(({ name }) => name === 'openai')?.apiKey).toBe(
    'sk-of-a-provider-1234',
  );
  expect(await opened.deployKeys.open(userId)).toHaveLength(1);
}

it('seals everything with a new key, and keeps the older one for backups', async () => {
  await fill(150);
  const { vault } = await open();
  const done = await rotate();
  expect(done).toMatchObject({ values: 152, unreadable: 0, from: vault.keyId });
  expect((await open()).vault.keyId).toBe(done.to);
  expect((await readdir(home)).sort()).toEqual(['master.key', `master.key.${vault.keyId}`]);
  await expectAll(150);
  expect((await rotate()).from).toBe(done.to);
  await expectAll(150);
});

it('goes on where it was broken off, and lets nothing start before that', async () => {
  await fill(150);
  let left = 120;
  const breaking = IDENTITY_SEALED.map((table) => ({
    ...table,
    placeOf: (row: Record<string, string>) => {
      left -= 1;
      if (left < 0) throw new Error('the machine lost its power');
      return table.placeOf(row);
    },
  }));
  await expect(rotate(breaking)).rejects.toThrow('power');
  const keys = await bed.database.pool.query('select count(distinct key_id)::int as keys from vitto_secrets');
  expect(keys.rows).toEqual([{ keys: 2 }]);
  await expect(open()).rejects.toMatchObject({
    code: 'vault.rotating',
    hint: expect.stringContaining('vault rotate'),
  });
  expect(await rotate()).toMatchObject({ values: 52, unreadable: 0 });
  await expectAll(150);
});

it('refuses while a process runs', async () => {
  await fill(1);
  const self = await joinProcesses(bed.database, { roles: ['worker'], version: 'test' });
  await bed.database.pool.query("update vitto_processes set host = 'another machine'");
  await expect(rotate()).rejects.toMatchObject({ code: 'vault.in-use' });
  expect(await readdir(home)).toEqual(['master.key']);
  await bed.database.pool.query('delete from vitto_processes');
  await self.leave();
  expect(await rotate()).toMatchObject({ values: 3 });
});

it('counts what was lost before, and changes nothing of it', async () => {
  await fill(2);
  await bed.database.pool.query("update vitto_secrets set key_id = 'of another key' where name = 'S0'");
  expect(await rotate()).toMatchObject({ values: 3, unreadable: 1 });
});

it('needs the key in a file', async () => {
  const key = Buffer.from(Array.from({ length: 32 }, (_, n) => n * 7)).toString('base64');
  const options = { home, tables: IDENTITY_SEALED };
  await expect(rotateMasterKey(bed.database, { ...options, setting: key })).rejects.toMatchObject({
    code: 'vault.no-key-file',
  });
  const file = join(home, 'elsewhere');
  await writeFile(file, key);
  await chmod(file, 0o600);
  expect((await rotateMasterKey(bed.database, { ...options, setting: file })).keptIn).toContain(`${file}.`);
});
