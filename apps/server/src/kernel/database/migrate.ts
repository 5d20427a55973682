import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { drizzle } from 'drizzle-orm/node-postgres';
import { migrate as runMigrations } from 'drizzle-orm/node-postgres/migrator';
import pg from 'pg';
import { AppError } from '../app-error.ts';

const MIGRATIONS = fileURLToPath(new URL('../../../migrations', import.meta.url));
/** One number for the advisory lock of all of Vitto's starters on a database. */
const MIGRATION_LOCK = 7_184_533_021;

/**
 * Brings the schema to this version: forward only, in a transaction, under a lock against a second starter.
 * @throws AppError `database.newer-schema` when the database was written by a newer version.
 */
export async function migrateDatabase(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, application_name: 'vitto-migrate' });
  await client.connect();
  try {
    await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
    await refuseNewerSchema(client);
    await runMigrations(drizzle(client), {
      migrationsFolder: MIGRATIONS,
      migrationsTable: 'vitto_migrations',
      migrationsSchema: 'public',
    });
  } finally {
    await client.end();
  }
}

async function refuseNewerSchema(client: pg.Client): Promise<void> {
  const journal = JSON.parse(await readFile(`${MIGRATIONS}/meta/_journal.json`, 'utf8')) as {
    entries: { when: number }[];
  };
  const newest = Math.max(...journal.entries.map((entry) => entry.when));
  const exists = await client.query("select to_regclass('public.vitto_migrations') as name");
  if ((exists.rows[0] as { name: string | null }).name === null) return;
  const applied = await client.query('select max(created_at)::float8 as newest from public.vitto_migrations');
  const found = (applied.rows[0] as { newest: number | null }).newest;
  if (found !== null && found > newest) {
    throw new AppError('database.newer-schema', 'The database was written by a newer version of Vitto.', {
      hint: 'Start the newer version again, or restore a backup that was made with this one.',
    });
  }
}
