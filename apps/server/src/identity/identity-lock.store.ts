import type { Database, SqlClient } from '../kernel/database/database.ts';
import { inTransaction } from '../kernel/database/transaction.ts';

/** One number for what two starters must not do at once: make the owner, write the token file of this machine. */
const IDENTITY_LOCK = 7_184_533_022;

/** Runs `work` in a transaction under the lock of the installation's starters. */
export async function lockIdentity<T>(
  database: Database,
  work: (client: SqlClient) => Promise<T>,
): Promise<T> {
  return inTransaction(database, async (client) => {
    await client.query('select pg_advisory_xact_lock($1)', [IDENTITY_LOCK]);
    return work(client);
  });
}
