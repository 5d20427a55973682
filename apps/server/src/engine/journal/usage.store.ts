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
  role: string | null;
  parentTaskId: string | null;
  rootTaskId: string;
  createdAt: Date;
  tokens: number;
  /** `null` when nothing of what it spent has a price. */
  costNano: number | null;
}

/** Tasks of a user ($1) that began on the days $2 to $3 of the time zone $4. */
const BEGAN = `user_id = $1 and created_at >= $2::text::date - interval '1 day' and created_at < $3::text::date + interval '2 days'
       and vitto_day_in(created_at, $4) between $2::text and $3::text`;

/**
 * The dearest of the tasks that began on these days of the time zone, by what each of them spent itself: what the tasks
 * below it spent is taken off.
 */
export async function readDearestTasks(
  sql: Sql,
  userId: string,
  range: { from: string; to: string; timeZone: string },
  limit: number,
): Promise<DearTask[]> {
  const result = await sql.query(
    `select id as "taskId", conversation_id as "conversationId", title, kind, role, parent_id as "parentTaskId",
       root_id as "rootTaskId", created_at as "createdAt", (tokens - below_tokens)::float8 as tokens,
       case when is_cost_known or cost_nano > below_cost_nano then (cost_nano - below_cost_nano)::float8 end as "costNano"
     from vitto_tasks where ${BEGAN} and tokens > below_tokens
     order by cost_nano - below_cost_nano desc, tokens - below_tokens desc, id limit $5`,
    [userId, range.from, range.to, range.timeZone, limit],
  );
  return result.rows as DearTask[];
}

export interface SubVittoCosts {
  role: string | null;
  runs: number;
  succeeded: number;
  failed: number;
  tokens: number;
  /** `null` when nothing of what they spent has a price. */
  costNano: number | null;
}

/** What the sub-Vittos that began on these days of the time zone came to, by role: by what each spent itself. */
export async function readSubVittoCosts(
  sql: Sql,
  userId: string,
  range: { from: string; to: string; timeZone: string },
): Promise<SubVittoCosts[]> {
  const result = await sql.query(
    `select role, count(*)::int as runs, (count(*) filter (where is_success))::int as succeeded,
       (count(*) filter (where state in ('failed', 'cancelled') or not is_success))::int as failed,
       sum(tokens - below_tokens)::float8 as tokens,
       case when bool_or(is_cost_known or cost_nano > below_cost_nano) then sum(cost_nano - below_cost_nano)::float8 end as "costNano"
     from vitto_tasks where ${BEGAN} and kind = 'subvitto'
     group by role order by sum(cost_nano - below_cost_nano) desc, sum(tokens - below_tokens) desc, role`,
    [userId, range.from, range.to, range.timeZone],
  );
  return result.rows as SubVittoCosts[];
}
