import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { openDatabase, type Database } from './database.ts';
import { migrateDatabase } from './migrate.ts';
import { testServerUrl } from './testing-server.ts';

/**
 * A database of its own for one test file, cloned from a migrated template (made once per set of migrations).
 * It is dropped by `drop`; when `VITTO_KEEP_TEST_DATABASES` is set it is kept for a look.
 */
export async function createTestDatabase(): Promise<{
  database: Database;
  url: string;
  drop: () => Promise<void>;
}> {
  const server = testServerUrl();
  const template = await ensureTemplate(server);
  const name = `vitto_test_${randomBytes(6).toString('hex')}`;
  await asAdmin(server, (admin) => admin.query(`create database ${name} template ${template}`));
  const url = withDatabase(server, name);
  const database = openDatabase({ url, maxConnections: 10, applicationName: 'vitto-test' });
  const drop = async () => {
    await database.pool.end();
    if (process.env['VITTO_KEEP_TEST_DATABASES'] !== undefined) return;
    await asAdmin(server, (admin) => admin.query(`drop database if exists ${name} with (force)`));
  };
  return { database, url, drop };
}

async function ensureTemplate(server: string): Promise<string> {
  const name = `vitto_template_${migrationsHash()}`;
  await asAdmin(server, async (admin) => {
    await admin.query('select pg_advisory_lock(41)');
    const found = await admin.query('select 1 from pg_database where datname = $1', [name]);
    if (found.rowCount !== 0) return;
    const draft = `${name}_draft`;
    await admin.query(`drop database if exists ${draft} with (force)`);
    await admin.query(`create database ${draft}`);
    await migrateDatabase(withDatabase(server, draft));
    await admin.query(`alter database ${draft} rename to ${name}`);
  });
  return name;
}

function migrationsHash(): string {
  const folder = fileURLToPath(new URL('../../../migrations', import.meta.url));
  const hash = createHash('sha256');
  for (const file of readdirSync(folder)
    .filter((f) => f.endsWith('.sql'))
    .sort())
    hash.update(readFileSync(`${folder}/${file}`));
  return hash.digest('hex').slice(0, 12);
}

async function asAdmin<T>(server: string, use: (admin: pg.Client) => Promise<T>): Promise<T> {
  const admin = new pg.Client({ connectionString: server, application_name: 'vitto-test-admin' });
  await admin.connect();
  try {
    return await use(admin);
  } finally {
    await admin.end();
  }
}

function withDatabase(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}
