import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readMasterKey } from './master-key.ts';

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'vitto-key-'));
});
afterEach(() => rm(home, { recursive: true }));

const read = (setting: string | null = null) => readMasterKey({ home, setting });
const KEY = randomBytes(32);

describe('the key of the home', () => {
  it('is made once, whole, for its owner alone, however many ask for it', async () => {
    const keys = await Promise.all(Array.from({ length: 20 }, () => read()));
    expect(new Set(keys.map((key) => key.toString('hex'))).size).toBe(1);
    expect(await readdir(home)).toEqual(['master.key']);
    expect((await stat(join(home, 'master.key'))).mode & 0o777).toBe(0o600);
    expect(await read()).toEqual(keys[0]);
  });

  it('is refused when others can read it, and says how to mend that', async () => {
    await read();
    await chmod(join(home, 'master.key'), 0o640);
    await expect(read()).rejects.toMatchObject({
      code: 'vault.master-key',
      hint: expect.stringContaining(`chmod 600 ${home}/master.key`),
    });
  });

  it('is not made anew when it is there and is none', async () => {
    await writeFile(join(home, 'master.key'), 'not a key!', { mode: 0o600 });
    await expect(read()).rejects.toMatchObject({ code: 'vault.master-key' });
    expect(await readFile(join(home, 'master.key'), 'utf8')).toBe('not a key!');
  });
});

describe('VITTO_MASTER_KEY', () => {
  it('is the key in base64, of either alphabet, or a file that holds it', async () => {
    expect(await read(KEY.toString('base64'))).toEqual(KEY);
    expect(await read(KEY.toString('base64url'))).toEqual(KEY);
    const file = join(home, 'from-a-secret-store');
    await writeFile(file, `${KEY.toString('base64')}\n`, { mode: 0o640 });
    expect(await read(file)).toEqual(KEY);
    expect(await readdir(home)).toEqual(['from-a-secret-store']);
    await chmod(file, 0o644);
    await expect(read(file)).rejects.toMatchObject({ code: 'vault.master-key' });
  });

  it.each([
    ['changeme', 'holds 6 bytes'],
    [Buffer.alloc(32, 'a').toString('base64'), 'placeholder'],
    [Buffer.alloc(32).toString('base64'), 'placeholder'],
    // Not random: what begins with a slash is taken for the path of a file.
    [Buffer.from('0123456789abcdef').toString('base64'), 'holds 16 bytes'],
    [Buffer.from('0123456789abcdefghijklmnopqrstuvw').toString('base64'), 'holds 33 bytes'],
    ['<your key here>', 'neither'],
    ['/run/secrets/not-there', 'is not there'],
    ['keys/master.key', 'neither'],
  ])('is refused as %s', async (setting, why) => {
    await expect(read(setting)).rejects.toMatchObject({
      code: 'vault.master-key',
      message: expect.stringContaining(why),
      hint: expect.any(String),
    });
    expect(await readdir(home)).toEqual([]);
  });
});
