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

  it('name the last one that was started, none after it has stopped in order, and leave it in the audit trail who may come in', async () => {
    const first = await start();
    const second = await start();
    try {
      expect(await address()).toBe(second.url);
      await first.end();
      expect(await address()).toBe(second.url);
      expect(await second.end()).toBe(0);
      // Each start prints a link; the first made the token of the command line.
      const { rows } = await test.database.pool.query(
        "select action, actor_id, detail->>'name' as name from vitto_audit_events where via = 'system' order by seq",
      );
      expect(rows).toEqual([
        { action: 'token.created', actor_id: null, name: 'vitto on this machine' },
        { action: 'sign-in.code-made', actor_id: null, name: null },
        { action: 'sign-in.code-made', actor_id: null, name: null },
      ]);
      await expect(address()).rejects.toMatchObject({ code: 'ENOENT' });
    } finally {
      await Promise.all([first.end('SIGKILL'), second.end('SIGKILL')]);
    }
  });
});
