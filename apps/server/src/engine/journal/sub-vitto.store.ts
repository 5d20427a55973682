import type { ArtifactRef, NewEvent } from '@vitto/contracts';
import type { Sql } from '../../kernel/database/database.ts';
import { toStored } from './journal.store.ts';
import { insertTasks, TASK_COLUMNS, type NewTask, type TaskRecord } from './task.store.ts';

const ENDED = "('completed', 'failed', 'cancelled')";
/** Of a row `t`: none of those whose results it needs is still to end. */
const IS_READY = `not exists (select 1 from vitto_tasks d where d.id = any(t.depends_on) and d.state not in ${ENDED})`;
/** Places of a user ($1) that are taken. A parked sub-Vitto has none, or one that waits for its own would keep them out. */
const TAKEN =
  "(select count(*) from vitto_tasks r where r.user_id = $1 and r.kind = 'subvitto' and r.state = 'running')";

/** A sub-Vitto as it is inserted: its row and the first events of its journal. */
export interface NewSubVitto {
  task: NewTask;
  events: NewEvent[];
}

/** Inserts the sub-Vittos of a round, queued; the caller holds the parent's row. */
export async function insertSubVittos(sql: Sql, children: NewSubVitto[]): Promise<void> {
  // All rows before the first event: with that the user's position is locked.
  await insertTasks(
    sql,
    children.map(({ task }) => task),
  );
  const events = children.map(({ task, events: its }) => ({ id: task.id, events: toStored(its).list }));
  await sql.query(
    'select vitto_append(c.id, null, c.events) from json_to_recordset($1) as c(id uuid, events json)',
    [JSON.stringify(events)],
  );
}

/**
 * The sub-Vittos of a user that may start now, as many as there are places, the earliest first. Each is only woken:
 * whether it has its place is settled when a worker takes it.
 */
export async function findNextSubVittos(sql: Sql, userId: string, maxParallel: number): Promise<string[]> {
  const result = await sql.query(
    `select t.id from vitto_tasks t where t.user_id = $1 and t.kind = 'subvitto' and t.state = 'queued' and ${IS_READY}
     order by t.created_at, t.id limit greatest(0, $2 - ${TAKEN})`,
    [userId, maxParallel],
  );
  return (result.rows as { id: string }[]).map((row) => row.id);
}

/** Sub-Vittos of everybody that may start now and may have no job that wakes a worker, within each user's places. */
export async function findForgottenSubVittos(
  sql: Sql,
  maxParallel: number,
  limit: number,
): Promise<string[]> {
  const result = await sql.query(
    `select n.id from (select distinct user_id from vitto_tasks where kind = 'subvitto' and state = 'queued') as u
     cross join lateral (
       select t.id from vitto_tasks t where t.user_id = u.user_id and t.kind = 'subvitto' and t.state = 'queued' and ${IS_READY}
       order by t.created_at, t.id limit greatest(0, $1 - ${TAKEN.replace('$1', 'u.user_id')})) as n limit $2`,
    [maxParallel, limit],
  );
  return (result.rows as { id: string }[]).map((row) => row.id);
}

/**
 * Whether a task may begin to run: always, but for a sub-Vitto, which needs a place among those of its user and the
 * results it waits for. Until the transaction ends nobody else of the user gets a place.
 */
export async function takePlace(sql: Sql, taskId: string, maxParallel: number): Promise<boolean> {
  const found = await sql.query(
    `select user_id as "userId", kind, state = 'queued' or (state = 'running' and lease_until < clock_timestamp()) as "isFree"
     from vitto_tasks where id = $1`,
    [taskId],
  );
  const task = found.rows[0] as { userId: string; kind: string; isFree: boolean } | undefined;
  if (task?.kind !== 'subvitto') return true;
  // One that was woken twice does not keep others waiting for the lock; whoever puts it back into the queue wakes it.
  if (!task.isFree) return false;
  await sql.query("select pg_advisory_xact_lock(hashtextextended('sub-vittos ' || $1, 0))", [task.userId]);
  const result = await sql.query(
    // One whose worker was lost has its place already.
    `select t.state = 'running' or (${TAKEN} < $3 and ${IS_READY}) as may from vitto_tasks t where t.user_id = $1 and t.id = $2`,
    [task.userId, taskId, maxParallel],
  );
  return (result.rows[0] as { may: boolean } | undefined)?.may ?? false;
}

/** A sub-Vitto with the files that it has handed over. */
export interface SubVittoRecord extends TaskRecord {
  files: ArtifactRef[];
}

/** The end of a task is among the last events of its journal. */
const WITH_FILES = `${TASK_COLUMNS}, coalesce((select e.payload->'artifacts' from vitto_task_events e
  where e.task_id = vitto_tasks.id and e.type = 'task.completed' and e.seq > vitto_tasks.seq - 20 limit 1), '[]') as files`;

/** The sub-Vittos of a task, in the order they were deployed. */
export async function listSubVittos(sql: Sql, parentId: string): Promise<SubVittoRecord[]> {
  const result = await sql.query(
    `select ${WITH_FILES} from vitto_tasks where parent_id = $1 order by round, index, id`,
    [parentId],
  );
  return result.rows as SubVittoRecord[];
}

/** Rows by id, in the order of the ids: sub-Vittos that another one depends on. */
export async function readTasksInOrder(sql: Sql, ids: readonly string[]): Promise<SubVittoRecord[]> {
  if (ids.length === 0) return [];
  const result = await sql.query(
    `select ${WITH_FILES} from vitto_tasks where id = any($1::uuid[]) order by array_position($1::uuid[], id)`,
    [ids],
  );
  return result.rows as SubVittoRecord[];
}

/** How many of these tasks have not ended. */
export async function countOpenTasks(sql: Sql, ids: readonly string[]): Promise<number> {
  const result = await sql.query(
    `select count(*)::int as count from vitto_tasks where id = any($1::uuid[]) and state not in ${ENDED}`,
    [ids],
  );
  return (result.rows[0] as { count: number }).count;
}

/** What a task and those above it leave it to spend; `null`: no limit. Money in billionths of a dollar. */
export interface BudgetLeftNow {
  tokens: number | null;
  costNano: number | null;
  /** What its sub-Vittos together may still spend of what they were given; `null`: nothing was set. */
  belowTokens: number | null;
  belowCostNano: number | null;
}

/** By the rows of the task and its ancestors; what the task holds for its own closing turn counts as left. */
export async function readBudgetLeft(sql: Sql, taskId: string): Promise<BudgetLeftNow> {
  const result = await sql.query(
    `with recursive chain as (
       select t.* from vitto_tasks t where id = $1
       union all
       select t.* from vitto_tasks t join chain on t.id = chain.parent_id)
     select (min(max_tokens - tokens - reserved_tokens) + min(own_reserved_tokens) filter (where id = $1))::float8 as tokens,
       (min(max_cost_nano - cost_nano - reserved_cost_nano) + min(own_reserved_cost_nano) filter (where id = $1))::float8 as "costNano",
       (min(below_max_tokens - below_tokens - below_reserved_tokens) filter (where id = $1))::float8 as "belowTokens",
       (min(below_max_cost_nano - below_cost_nano - below_reserved_cost_nano) filter (where id = $1))::float8 as "belowCostNano"
     from chain`,
    [taskId],
  );
  return result.rows[0] as BudgetLeftNow;
}

/**
 * Sets what the sub-Vittos of a task together may spend from now on; the caller holds its row. Never more than was set
 * before: those of an earlier round may have spent some since `more` was reckoned.
 */
export async function limitBelow(
  sql: Sql,
  taskId: string,
  more: { tokens: number | null; costNano: number | null },
): Promise<void> {
  await sql.query(
    `update vitto_tasks set below_max_tokens = least(below_max_tokens, below_tokens + below_reserved_tokens + $2),
       below_max_cost_nano = least(below_max_cost_nano, below_cost_nano + below_reserved_cost_nano + $3) where id = $1`,
    [taskId, more.tokens, more.costNano],
  );
}

/** The tools that a task really used, in the order of their first use. */
export async function readToolsUsed(sql: Sql, taskId: string): Promise<string[]> {
  const result = await sql.query(
    `select payload->>'tool' as tool from vitto_task_events
     where task_id = $1 and type = 'tool.called' and payload->>'status' in ('ok', 'error', 'timeout', 'unknown')
     group by 1 order by min(seq)`,
    [taskId],
  );
  return (result.rows as { tool: string }[]).map((row) => row.tool);
}

/** Whether other tasks with the same root have more reserved than they hold for their closing turns: a call is under way. */
export async function isBudgetHeldByOthers(
  sql: Sql,
  taskId: string,
  closingTokens: number,
): Promise<boolean> {
  const result = await sql.query(
    `select 1 from vitto_tasks t join vitto_tasks o on o.root_id = t.root_id and o.id <> t.id
     where t.id = $1 and o.state = 'running' and o.own_reserved_tokens > least($2, o.max_tokens / 4) limit 1`,
    [taskId, closingTokens],
  );
  return result.rowCount === 1;
}
