import type { Sql } from '../../kernel/database/database.ts';

/** What turns of one model used on one day of the user's. Money in billionths of a dollar, of the priced turns. */
export interface DayUsage {
  day: string;
  model: string;
  turns: number;
  inputTokens: number;
  cachedInputTokens: number;
  outputTokens: number;
  costNano: number;
  unpricedTurns: number;
}

/** A user's usage of the days from `from` to `to`, both included, `YYYY-MM-DD`. */
export async function readDailyUsage(
  sql: Sql,
  userId: string,
  { from, to }: { from: string; to: string },
): Promise<DayUsage[]> {
  const result = await sql.query(
    `select day, model, turns, input_tokens::float8 as "inputTokens", cached_input_tokens::float8 as "cachedInputTokens",
       output_tokens::float8 as "outputTokens", cost_nano::float8 as "costNano", unpriced_turns as "unpricedTurns"
     from vitto_daily_usage where user_id = $1 and day between $2 and $3 order by day, model`,
    [userId, from, to],
  );
  return result.rows as DayUsage[];
}

/** What counts against a user's cap of one day: also calls whose answer never came. */
export async function readDaySpending(
  sql: Sql,
  userId: string,
  day: string,
): Promise<{ costNano: number; reservedCostNano: number }> {
  const result = await sql.query(
    `select cost_nano::float8 as "costNano", reserved_cost_nano::float8 as "reservedCostNano"
     from vitto_daily_spending where user_id = $1 and day = $2`,
    [userId, day],
  );
  const row = result.rows[0] as { costNano: number; reservedCostNano: number } | undefined;
  return row ?? { costNano: 0, reservedCostNano: 0 };
}

export interface DearTask {
  taskId: string;
  conversationId: string | null;
  title: string;
  kind: string;
  createdAt: Date;
  tokens: number;
  /** `null` when nothing of what it spent has a price. */
  costNano: number | null;
}

/**
 * The dearest of the tasks that began on these days of the time zone, by what each of them spent itself: a row's own
 * totals hold those of its children, which are taken off.
 */
export async function readDearestTasks(
  sql: Sql,
  userId: string,
  range: { from: string; to: string; timeZone: string },
  limit: number,
): Promise<DearTask[]> {
  const result = await sql.query(
    `select id as "taskId", conversation_id as "conversationId", title, kind, created_at as "createdAt",
       (t.tokens - spent.tokens)::float8 as tokens,
       case when is_cost_known or cost_nano > spent.cost then (cost_nano - spent.cost)::float8 end as "costNano"
     from vitto_tasks t, lateral (
       select coalesce(sum(c.tokens), 0) as tokens, coalesce(sum(c.cost_nano), 0) as cost
       from vitto_tasks c where c.parent_id = t.id
     ) as spent
     where user_id = $1 and created_at >= $2::text::date - interval '1 day' and created_at < $3::text::date + interval '2 days'
       and vitto_day_in(created_at, $4) between $2::text and $3::text and t.tokens > spent.tokens
     order by t.cost_nano - spent.cost desc, t.tokens - spent.tokens desc, id limit $5`,
    [userId, range.from, range.to, range.timeZone, limit],
  );
  return result.rows as DearTask[];
}
