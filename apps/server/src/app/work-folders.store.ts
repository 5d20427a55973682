import type { Sql } from '../kernel/database/database.ts';

/**
 * Of these ids those of the user's sub-Vittos whose root task ended so many hours ago, also when they were deleted since:
 * what became of them is kept. What was no task of the user is not named.
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
     left join vitto_outcomes o on t.id is null and o.task_id = own.id and o.user_id = $1
     where coalesce(r.ended_at, o.ended_at) < clock_timestamp() - make_interval(hours => $3)`,
    [userId, ids, hours],
  );
  return (result.rows as { id: string }[]).map((row) => row.id);
}
