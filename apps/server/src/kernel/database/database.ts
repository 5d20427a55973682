import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres';
import pg from 'pg';
import { AppError, describeError } from '../app-error.ts';

/** The pool and the query layer over it. Stores take a `Database` or, inside a transaction, its `Transaction`. */
export interface Database extends NodePgDatabase {
  readonly pool: pg.Pool;
}
/** The connection of a transaction. */
export type SqlClient = pg.PoolClient;
/** Anything that runs a query: the pool, or the connection of a transaction. */
export type Sql = Pick<pg.Pool, 'query'> | Pick<SqlClient, 'query'>;

export interface DatabaseOptions {
  url: string;
  /** Most connections this process opens; the default suits a server with its worker. */
  maxConnections?: number;
  applicationName?: string;
  onError?: (error: Error) => void;
}

/** Opens a pool. Connections are made when they are needed: a database that is away shows at the first query. */
export function openDatabase(options: DatabaseOptions): Database {
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.maxConnections ?? 20,
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 30_000,
    application_name: options.applicationName ?? 'vitto',
    keepAlive: true,
  });
  // An idle connection that breaks (database restarted) must not end the process; the pool opens a new one.
  pool.on('error', (error) => options.onError?.(error));
  return Object.assign(drizzle(pool), { pool });
}

/** SQLSTATE of a database error, also when the query layer has wrapped it; `null` for anything else. */
export function sqlState(error: unknown): string | null {
  let current = error;
  for (let depth = 0; depth < 5 && current instanceof Error; depth += 1) {
    const code = (current as { code?: unknown }).code;
    if (current instanceof pg.DatabaseError && typeof code === 'string') return code;
    current = current.cause;
  }
  return null;
}

const CONNECTION_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
]);

/** True when the database could not be reached or is going down: the statement may or may not have been done. */
export function isDatabaseAway(error: unknown): boolean {
  const state = sqlState(error);
  if (state !== null) {
    if (state === '55000') return /not currently accepting connections/.test(describeError(error));
    return state.startsWith('08') || state.startsWith('57P') || state === '53300';
  }
  let current = error;
  for (let depth = 0; depth < 5 && current instanceof Error; depth += 1) {
    // What has been understood and given a code of ours is something else (a missing file, a provider that is away).
    if (current instanceof AppError) return false;
    const { code, syscall } = current as { code?: unknown; syscall?: unknown };
    if (typeof code === 'string' && CONNECTION_CODES.has(code) && syscall !== 'open') return true;
    if (
      /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error/i.test(
        current.message,
      )
    ) {
      return true;
    }
    current = current.cause;
  }
  return false;
}

/** True when the database's disk is full. */
export function isDiskFull(error: unknown): boolean {
  return sqlState(error) === '53100';
}

/** The error people get while the database is away. */
export function databaseAway(cause: unknown): AppError {
  return new AppError('database.unavailable', 'The database cannot be reached right now.', {
    status: 503,
    hint: 'Nothing is lost: tasks go on by themselves once it is back. Try again in a few seconds.',
    cause,
  });
}
