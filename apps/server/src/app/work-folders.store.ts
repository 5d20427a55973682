import type { Sql } from '../kernel/database/database.ts';

/**
 * Of these ids those that are no task of the user (any more), or a sub-Vitto whose root task ended so many hours ago.
 */
export async function findWorkedOff(
  sql: Sql,
  userId: string,
  ids: readonly string[],
  hours: number,
): Promise<string[]> {
  const result = await sql.query(
    `select own.id from unnest($2::uuid[]) as own (id)
     left join vitto_tasks t on t.id = own.id and t.user_id = $1
     left join vitto_tasks r on r.id = t.root_id
     where r.id is null or r.ended_at < clock_timestamp() - make_interval(hours => $3)`,
    [userId, ids, hours],
  );
  return (result.rows as { id: string }[]).map((row) => row.id);
}
