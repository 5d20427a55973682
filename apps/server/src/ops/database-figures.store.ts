import type { SystemStatus } from '@vitto/contracts';
import type { Database } from '../kernel/database/database.ts';

export interface DatabaseFigures extends Omit<SystemStatus['database'], 'kind'> {
  /** Now, by the database's clock. */
  readAt: Date;
}

/** How the database is: its size on disk, its connections, and how long a trivial question takes, in milliseconds. */
export async function readDatabaseFigures(database: Database): Promise<DatabaseFigures> {
  const began = performance.now();
  await database.pool.query('select 1');
  const roundTripMs = Math.round((performance.now() - began) * 100) / 100;
  const result = await database.pool.query(
    `select split_part(current_setting('server_version'), ' ', 1) as version, pg_database_size(current_database())::float8 as bytes,
       (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as connections,
       current_setting('max_connections')::int as "maxConnections", clock_timestamp() as "readAt"`,
  );
  return { ...(result.rows[0] as Omit<DatabaseFigures, 'roundTripMs'>), roundTripMs };
}
