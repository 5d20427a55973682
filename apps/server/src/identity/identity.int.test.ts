import { chmod, mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase } from '../kernel/database/testing.ts';
import {
  ensureLocalCliToken,
  ensureOwner,
  findApiToken,
  isSameSecret,
  readSettings,
  updateSettings,
  type User,
} from './index.ts';

let bed: Awaited<ReturnType<typeof createTestDatabase>>;
let owner: User;
let home: string;
beforeAll(async () => {
  bed = await createTestDatabase();
  home = await mkdtemp(join(tmpdir(), 'vitto-home-'));
  const made = await Promise.all(Array.from({ length: 5 }, () => ensureOwner(bed.database)));
  expect(new Set(made.map((user) => user.id)).size).toBe(1);
  owner = made[0] as User;
});
afterAll(async () => {
  await bed.drop();
  await rm(home, { recursive: true });
});

it('has one owner however many starters there are, and keeps them', async () => {
  expect(owner).toMatchObject({ role: 'owner', name: 'Owner' });
  expect(await ensureOwner(bed.database)).toEqual(owner);
});

describe('the token of the command line on this machine', () => {
  const read = async () => (await readFile(join(home, 'cli-token'), 'utf8')).trim();

  it('is made once, readable by its owner alone', async () => {
    const made = await Promise.all(
      Array.from({ length: 4 }, () => ensureLocalCliToken(bed.database, owner.id, home)),
    );
    const token = await read();
    const found = await findApiToken(bed.database, token);
    expect(found?.user.id).toBe(owner.id);
    expect(made.filter((id) => id !== null)).toEqual([found?.tokenId]);
    expect((await stat(join(home, 'cli-token'))).mode & 0o777).toBe(0o600);
    expect(await readdir(home)).toEqual(['cli-token']);
    await chmod(join(home, 'cli-token'), 0o644);
    await ensureLocalCliToken(bed.database, owner.id, home);
    expect(await read()).toBe(token);
    expect((await stat(join(home, 'cli-token'))).mode & 0o777).toBe(0o600);
    const rows = await bed.database.pool.query('select 1 from vitto_api_tokens');
    expect(rows.rowCount).toBe(1);
  });

  it('is made again when the database no longer knows it, or the file is spoilt', async () => {
    const before = await read();
    await bed.database.pool.query('delete from vitto_api_tokens');
    await ensureLocalCliToken(bed.database, owner.id, home);
    const after = await read();
    expect(after).not.toBe(before);
    expect(await findApiToken(bed.database, after)).not.toBeNull();
    await writeFile(join(home, 'cli-token'), 'half');
    await ensureLocalCliToken(bed.database, owner.id, home);
    expect(await findApiToken(bed.database, await read())).not.toBeNull();
  });
});

describe('settings', () => {
  it('that an earlier version wrote and this one does not take fall back alone', async () => {
    await updateSettings(bed.database, owner.id, { language: 'es' });
    await bed.database.pool.query(
      `update vitto_user_settings set settings = settings || '{"timeZone": 7, "gone": true, "dailyCostUsd": 3}'`,
    );
    expect(await readSettings(bed.database, owner.id)).toMatchObject({
      language: 'es',
      timeZone: 'UTC',
      dailyCostUsd: 3,
    });
  });

  it('refuse a value that is none and change nothing', async () => {
    await expect(
      updateSettings(bed.database, owner.id, { timeZone: 'Nowhere', language: 'en' }),
    ).rejects.toMatchObject({
      code: 'settings.invalid',
      status: 422,
    });
    expect(await readSettings(bed.database, owner.id)).toMatchObject({ language: 'es' });
  });
});

it('compares secrets of any lengths without throwing', () => {
  expect(isSameSecret('abc', 'abc')).toBe(true);
  expect(isSameSecret('abc', 'abd')).toBe(false);
  expect(isSameSecret('', 'a longer one')).toBe(false);
});
