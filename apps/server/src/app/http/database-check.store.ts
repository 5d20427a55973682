import type { Database } from '../../kernel/database/database.ts';

/** Rejects when the database does not answer within `ms`. */
export async function checkDatabase(database: Database, ms = 3_000): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error('no answer in time')), ms);
  try {
    await Promise.race([database.pool.query('select 1'), late]);
  } finally {
    clearTimeout(timer);
  }
}
