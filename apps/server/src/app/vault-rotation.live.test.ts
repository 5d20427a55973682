import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ensureOwner, IDENTITY_SEALED, openVault } from '../identity/index.ts';
import { createTestDatabase } from '../kernel/database/testing.ts';
import { NOTICES_SEALED } from '../notices/index.ts';

const PROGRAM = fileURLToPath(new URL('../vault.ts', import.meta.url));

let bed: Awaited<ReturnType<typeof createTestDatabase>>;
let home: string;
beforeAll(async () => {
  bed = await createTestDatabase();
  home = await mkdtemp(join(tmpdir(), 'vitto-rotation-'));
});
afterAll(async () => {
  await bed.drop();
  await rm(home, { recursive: true });
});

const rotate = (): Promise<string> =>
  new Promise((resolve) => {
    const env = {
      PATH: process.env['PATH'],
      VITTO_HOME: home,
      DATABASE_URL: bed.url,
      VITTO_LOG_LEVEL: 'warn',
    };
    execFile(process.execPath, [PROGRAM, 'rotate'], { env }, (_error, stdout) => resolve(stdout));
  });

it('knows every sealed column of the schema', async () => {
  const found = await bed.database.pool.query<{ name: string }>(
    `select table_name || '.' || column_name as name from information_schema.columns
     where table_schema = current_schema() and column_name like 'sealed%' order by 1`,
  );
  const known = [...IDENTITY_SEALED, ...NOTICES_SEALED].map(({ table, column }) => `${table}.${column}`);
  expect(known.sort()).toEqual(found.rows.map(({ name }) => name));
});

it('seals what notices keep with the new key, from the command line, and writes it into the trail', async () => {
  const { pool } = bed.database;
  const userId = (await ensureOwner(bed.database)).id;
  const before = await openVault({ home, setting: null });
  const id = '0190a5f0-0000-7000-8000-000000000001';
  const hook = before.seal('whsec', `webhook:${id}:${userId}`);
  const push = before.seal('keys', 'push:https://push.test/1');
  const key = before.seal('vapid', 'push-key');
  await pool.query(
    `insert into vitto_webhooks (id, user_id, url, events, key_id, sealed_secret, position)
     values ($1, $2, 'https://a.test', '[]', $3, $4, 0)`,
    [id, userId, hook.keyId, hook.sealed],
  );
  await pool.query(
    `insert into vitto_push_subscriptions (id, user_id, endpoint, key_id, sealed_keys, browser, position)
     values ($1, $2, 'https://push.test/1', $3, $4, 'b', 0)`,
    [id, userId, push.keyId, push.sealed],
  );
  await pool.query(
    `insert into vitto_push_keys (id, public_key, key_id, sealed_private_key) values (1, 'p', $1, $2)`,
    [key.keyId, key.sealed],
  );
  expect(JSON.parse(await rotate())).toMatchObject({ result: { values: 3, unreadable: 0 } });
  const after = await openVault({ home, setting: null });
  const read = async (column: string, table: string, place: string) => {
    const found = await pool.query(`select key_id as "keyId", ${column} as sealed from ${table}`);
    return after.open(found.rows[0] as ReturnType<typeof after.seal>, place);
  };
  expect(await read('sealed_secret', 'vitto_webhooks', `webhook:${id}:${userId}`)).toBe('whsec');
  expect(await read('sealed_keys', 'vitto_push_subscriptions', 'push:https://push.test/1')).toBe('keys');
  expect(await read('sealed_private_key', 'vitto_push_keys', 'push-key')).toBe('vapid');
  const trail = await pool.query(
    "select count(*)::int as n from vitto_audit_events where action = 'vault.rotated'",
  );
  expect(trail.rows).toEqual([{ n: 1 }]);
});
