import pg from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError, describeError } from '../app-error.ts';
import { ADMIN_ROLE, APP_ROLE } from './local-postgres-cluster.ts';
import type { ServerPlace } from './local-postgres-postmaster.ts';

/**
 * One supervisor's hold on the server: a connection that keeps a shared lock. The kernel closes it when the
 * process dies, however it dies, so a dead supervisor never counts.
 */
export interface SupervisorSession {
  /** Calls back once when the server has gone away without `close`. */
  onLost(callback: () => void): void;
  /**
   * Gives up the shared lock. 0 when nobody else supervises or uses the server: then no one can begin to,
   * until `close`. Otherwise how many connections others have.
   */
  mayStop(): Promise<number>;
  close(): Promise<void>;
}

/** Any number that nothing else in the database `postgres` uses. */
const SUPERVISOR_LOCK = 4_800_001;
const CLOSING_CONNECTIONS_MS = 1_000;
/** Being started or stopped, out of connections. */
const PASSING_STATES = new Set(['57P03', '57P01', '53300']);
const PASSING_CODES = new Set(['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'EAGAIN']);

/** Opens a session, with the product's role and database made when missing; `null` when the server is not ready, or is about to stop. */
export async function openSupervisorSession(place: ServerPlace): Promise<SupervisorSession | null> {
  const client = new pg.Client({
    host: place.socketDir,
    port: 5432,
    user: ADMIN_ROLE,
    database: 'postgres',
    application_name: 'vitto-supervisor',
    connectionTimeoutMillis: 5_000,
  });
  const watch = watchConnection(client);
  try {
    await client.connect();
    if (!(await holdServer(client, place))) {
      await client.end();
      return null;
    }
  } catch (error) {
    void client.end().catch(() => undefined);
    if (isPassing(error)) return null;
    throw new AppError(
      'database.start-failed',
      `The local PostgreSQL refused its supervisor: ${describeError(error)}`,
      {
        status: 503,
        hint: `Its log is ${place.logFile}. Start Vitto as the user who made ${place.dataDir}, or set DATABASE_URL.`,
        cause: error,
      },
    );
  }
  // An idle session does not keep the process alive by itself; one that is asked something does.
  const handle = client as pg.Client & { ref(): void; unref(): void }; // missing in the published types
  handle.unref();
  return {
    onLost: watch,
    mayStop: () => {
      handle.ref();
      return countOthers(client);
    },
    close: () => client.end().catch(() => undefined),
  };
}

function watchConnection(client: pg.Client): (callback: () => void) => void {
  let isLost = false;
  let tell: (() => void) | null = null;
  const lose = () => {
    if (isLost) return;
    isLost = true;
    tell?.();
  };
  client.on('error', lose);
  client.on('end', lose);
  return (callback) => {
    tell = callback;
    if (isLost) callback();
  };
}

async function holdServer(client: pg.Client, place: ServerPlace): Promise<boolean> {
  const { rows } = await client.query<{ dir: string; held: boolean; role: boolean; made: boolean }>(
    `select current_setting('data_directory') as dir, pg_try_advisory_lock_shared($1) as held,
            exists (select from pg_roles where rolname = $2) as role,
            exists (select from pg_database where datname = $2) as made`,
    [SUPERVISOR_LOCK, APP_ROLE],
  );
  const found = rows[0];
  if (found === undefined || !found.held) return false;
  if (found.dir !== place.dataDir)
    throw new Error(`another server (${found.dir}) answers on ${place.socketDir}`);
  if (!found.role)
    await tolerateTwin(client.query(`create role ${APP_ROLE} login createdb in role pg_monitor`));
  if (!found.made) await tolerateTwin(client.query(`create database ${APP_ROLE} owner ${APP_ROLE}`));
  return true;
}

/** A second starter may have made the same a moment before. */
async function tolerateTwin(made: Promise<unknown>): Promise<void> {
  await made.catch((error: unknown) => {
    const state = (error as { code?: string }).code ?? '';
    // duplicate_object, duplicate_database, unique_violation (both at the same instant)
    if (!['42710', '42P04', '23505'].includes(state)) throw error;
  });
}

async function countOthers(client: pg.Client): Promise<number> {
  try {
    await client.query('select pg_advisory_unlock_shared($1)', [SUPERVISOR_LOCK]);
    const lock = await client.query<{ alone: boolean }>('select pg_try_advisory_lock($1) as alone', [
      SUPERVISOR_LOCK,
    ]);
    const isAlone = lock.rows[0]?.alone === true;
    // Our own connections, closed just now, take the server a moment to let go.
    const deadline = performance.now() + (isAlone ? CLOSING_CONNECTIONS_MS : 0);
    for (;;) {
      const others = await countConnections(client);
      if (others === 0 && isAlone) return 0;
      if (performance.now() >= deadline) return Math.max(others, 1);
      await sleep(10);
    }
  } catch {
    // The server has gone away just now; if one runs again, it is another supervisor's.
    return 1;
  }
}

async function countConnections(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ others: number }>(
    `select count(*)::int as others from pg_stat_activity
      where backend_type = 'client backend' and pid <> pg_backend_pid()`,
  );
  return rows[0]?.others ?? 0;
}

function isPassing(error: unknown): boolean {
  const { code, message } = error as { code?: string; message?: string };
  if (code !== undefined) return PASSING_STATES.has(code) || PASSING_CODES.has(code);
  return /Connection terminated|timeout expired/i.test(message ?? '');
}
