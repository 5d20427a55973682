import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chmodSync } from 'node:fs';
import { startLocalPostgres } from './local-postgres.ts';

/**
 * Global set-up of the tests that need a database: one PostgreSQL for the whole run in a temporary folder, or the
 * server that VITTO_TEST_DATABASE_URL names. Each test file makes a database of its own.
 */
export async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (process.env['VITTO_TEST_DATABASE_URL'] !== undefined) return undefined;
  const folder = await mkdtemp(join(tmpdir(), 'vitto-test-'));
  chmodSync(folder, 0o711);
  const quiet = { info: () => undefined, warn: (fields: object, text: string) => console.warn(text, fields) };
  const server = await startLocalPostgres({ dataDir: join(folder, 'postgres'), log: quiet });
  process.env['VITTO_TEST_DATABASE_URL'] = server.url;
  return async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  };
}
