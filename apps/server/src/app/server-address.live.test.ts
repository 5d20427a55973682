import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase } from '../kernel/database/testing.ts';
import { removeTestFolder, startVittoProcess } from './testing/vitto-process.ts';

describe('servers on one home', () => {
  let folder: string;
  let test: Awaited<ReturnType<typeof createTestDatabase>>;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'vitto-address-'));
    test = await createTestDatabase();
  });
  afterAll(async () => {
    await test.drop();
    await removeTestFolder(folder, home());
  });

  const home = () => join(folder, 'home');
  const start = () => startVittoProcess({ DATABASE_URL: test.url, VITTO_HOME: home(), HOME: folder });
  const address = async () => (await readFile(join(home(), 'server-address'), 'utf8')).trim();

  it('name the last one that was started, and none after it has stopped in order', async () => {
    const first = await start();
    const second = await start();
    try {
      expect(await address()).toBe(second.url);
      await first.end();
      expect(await address()).toBe(second.url);
      expect(await second.end()).toBe(0);
      await expect(address()).rejects.toMatchObject({ code: 'ENOENT' });
    } finally {
      await Promise.all([first.end('SIGKILL'), second.end('SIGKILL')]);
    }
  });
});
