import { sqlState, type Database, type SqlClient } from './database.ts';

/**
 * Runs `work` in one transaction on one connection; rolls back when it throws. Serialisation failures and deadlocks
 * (which the lock order rules out, but another program's lock may cause) are tried again, three times in all.
 */
export async function inTransaction<T>(
  database: Database,
  work: (client: SqlClient) => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
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
      const state = sqlState(error);
      if (tries < 3 && (state === '40P01' || state === '40001')) continue;
      throw error;
    } finally {
      client.release(broken);
    }
  }
}
