import { sqlState, type Database, type SqlClient } from './database.ts';

/** How often work that met a deadlock or a serialisation failure is done in all. */
const TRIES = 3;

/** True when the database undid the statement because of what others did at the same time: it may be done again. */
function isConflict(error: unknown): boolean {
  const state = sqlState(error);
  return state === '40P01' || state === '40001';
}

/**
 * Runs `work`, a single statement outside of a transaction, again when it met a deadlock or a serialisation failure
 * (which the lock order rules out, but another program's lock may cause): then nothing of it was done.
 */
export async function retryConflicts<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (tries === TRIES || !isConflict(error)) throw error;
    }
  }
}

/**
 * Runs `work` in one transaction on one connection; rolls back when it throws. Serialisation failures and deadlocks
 * are tried again as by `retryConflicts`.
 */
export function inTransaction<T>(database: Database, work: (client: SqlClient) => Promise<T>): Promise<T> {
  return retryConflicts(() => runOnce(database, work));
}

async function runOnce<T>(database: Database, work: (client: SqlClient) => Promise<T>): Promise<T> {
  const client = await database.pool.connect();
  let broken: Error | undefined;
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch((failure: unknown) => {
      broken = failure instanceof Error ? failure : new Error(String(failure));
    });
    throw error;
  } finally {
    client.release(broken);
  }
}
