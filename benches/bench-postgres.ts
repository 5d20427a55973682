import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import pg from 'pg';
import { startLocalPostgres } from '../apps/server/src/kernel/database/local-postgres.ts';
import { makeBenchFolder } from './bench-folder.ts';

/** A PostgreSQL for the length of a bench. */
export interface BenchPostgres {
  /** Version and what kind of server it is. */
  description: string;
  /** A new, empty database; its URL. */
  createDatabase: () => Promise<string>;
  /** Drops the databases that were made and stops the server, if it is ours. */
  close: () => Promise<void>;
}

/**
 * The server of DATABASE_URL (a role that may create databases), else a new local one in a temporary folder, with the
 * settings that an installation without DATABASE_URL has. It is closed at the end and when the bench is interrupted,
 * once; `endUsers` ends before that what the bench has started on it.
 */
export async function openBenchPostgres(
  endUsers: () => Promise<void> = async () => {},
): Promise<BenchPostgres> {
  const given = process.env['DATABASE_URL'];
  const own = given === undefined || given === '' ? await startOwn() : null;
  const url = own?.url ?? given ?? '';
  const databases: string[] = [];
  const closeAll = async () => {
    await endUsers();
    await asAdmin(url, async (admin) => {
      for (const name of databases) await admin.query(`drop database if exists ${name} with (force)`);
    });
    await own?.stop();
  };
  let closing: Promise<void> | null = null;
  const close = () => (closing ??= closeAll());
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void close().finally(() => process.exit(130)));
  return {
    description: await describeServer(url, own === null ? 'of DATABASE_URL' : 'started by the bench'),
    createDatabase: async () => {
      const name = `vitto_bench_${randomBytes(6).toString('hex')}`;
      await asAdmin(url, (admin) => admin.query(`create database ${name}`));
      databases.push(name);
      return withDatabase(url, name);
    },
    close,
  };
}

async function startOwn(): Promise<{ url: string; stop: () => Promise<void> }> {
  const folder = await makeBenchFolder();
  const quiet = { info: () => undefined, warn: () => undefined };
  const server = await startLocalPostgres({ dataDir: join(folder.path, 'postgres'), log: quiet });
  const stop = async () => {
    await server.stop();
    await folder.remove();
  };
  return { url: server.url, stop };
}

async function describeServer(url: string, kind: string): Promise<string> {
  return asAdmin(url, async (admin) => {
    const { rows } = await admin.query<{ version: string; fsync: string; commit: string }>(
      `select current_setting('server_version') as version, current_setting('fsync') as fsync,
              current_setting('synchronous_commit') as commit`,
    );
    const [row] = rows;
    return `PostgreSQL ${row?.version} ${kind}, fsync ${row?.fsync}, synchronous_commit ${row?.commit}`;
  });
}

async function asAdmin<T>(url: string, work: (admin: pg.Client) => Promise<T>): Promise<T> {
  const admin = new pg.Client({ connectionString: url, application_name: 'vitto-bench' });
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.end();
  }
}

function withDatabase(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}
