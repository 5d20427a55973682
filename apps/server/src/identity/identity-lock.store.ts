import type { PoolClient } from 'pg';
import type { Database } from '../kernel/database/database.ts';

/** One number for what two starters must not do at once: make the owner, write the token file of this machine. */
const IDENTITY_LOCK = 7_184_533_022;

/** Runs `work` in a transaction under the lock of the installation's starters. */
export async function lockIdentity<T>(
  database: Database,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  return inTransaction(database, async (client) => {
    await client.query('select pg_advisory_xact_lock($1)', [IDENTITY_LOCK]);
    return work(client);
  });
}

/** Runs `work` in one transaction; rolls back when it throws. */
export async function inTransaction<T>(
  database: Database,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
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
