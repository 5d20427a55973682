import {
  isEndState,
  type Complexity,
  type Outcome,
  type TaskKind,
  type TaskState,
  type Tier,
} from '@vitto/contracts';
import type { Sql } from '../../kernel/database/database.ts';
import type { RanTool } from './infer-domain.ts';

/** What is kept of a task's own row. Money in billionths of a dollar; its cost and tokens hold those of its sub-Vittos. */
export interface EndedTask {
  taskId: string;
  userId: string;
  parentTaskId: string | null;
  rootTaskId: string;
  title: string;
  source: TaskKind;
  role: string | null;
  tier: Tier | null;
  complexity: Complexity;
  end: Outcome['end'];
  success: boolean;
  iterations: number;
  tokens: number;
  costNano: number | null;
  durationMs: number;
  endedAt: Date;
}

/** A task that has ended (of this user, when one is named); `open` for one that has not, `null` when there is none. */
export async function readEndedTask(
  sql: Sql,
  taskId: string,
  userId: string | null = null,
): Promise<EndedTask | 'open' | null> {
  const result = await sql.query(
    `select id as "taskId", user_id as "userId", parent_id as "parentTaskId", root_id as "rootTaskId", title,
       kind as source, role, tier, complexity, state as end, coalesce(is_success, false) as success, iterations,
       tokens::float8 as tokens, case when is_cost_known then cost_nano end::float8 as "costNano",
       ran_ms::float8 as "durationMs", ended_at as "endedAt"
     from vitto_tasks where id = $1 and ($2::uuid is null or user_id = $2)`,
    [taskId, userId],
  );
  const row = result.rows[0] as (Omit<EndedTask, 'end'> & { end: TaskState }) | undefined;
  if (row === undefined) return null;
  return isEndState(row.end) ? (row as EndedTask) : 'open';
}

/** The index of a task's steps serves only what says that it reads no deltas. */
const STEPS = "task_id = $1 and type not in ('agent.text', 'agent.reasoning', 'tool.progress')";

/** The tools that a task has run, in the order of their first call. Refused and invalid calls have never started. */
export async function readRanTools(sql: Sql, taskId: string): Promise<RanTool[]> {
  const result = await sql.query(
    `with started as (
       select seq, payload->>'callId' as call, payload->>'tool' as tool, payload->>'domain' as domain
       from vitto_task_events where ${STEPS} and type = 'tool.starting'),
     worked as (
       select distinct payload->>'callId' as call
       from vitto_task_events where ${STEPS} and type = 'tool.called' and payload->>'status' = 'ok')
     select tool, domain, bool_or(worked.call is not null) as "hasWorked"
     from started left join worked using (call) group by tool, domain order by min(seq)`,
    [taskId],
  );
  return result.rows as RanTool[];
}

/** Whether an acceptance check has passed before the task said that it succeeded. */
export async function readWasChecked(sql: Sql, taskId: string): Promise<boolean> {
  const result = await sql.query(
    `select 1 from vitto_task_events where ${STEPS} and type = 'task.completed' and payload->'check' is not null limit 1`,
    [taskId],
  );
  return result.rowCount === 1;
}

/** The first model that answered a task; `null` when none did. */
export async function readFirstModel(sql: Sql, taskId: string): Promise<string | null> {
  const result = await sql.query(
    `select payload->>'model' as model from vitto_task_events
     where ${STEPS} and type = 'agent.turn_completed' order by seq limit 1`,
    [taskId],
  );
  return (result.rows[0] as { model: string | null } | undefined)?.model ?? null;
}

/** How far back a sweep looks. */
const SWEEP_DAYS = 30;

/** An end without an outcome. */
export interface UnreportedEnd {
  taskId: string;
  endedAt: Date;
}

/** Tasks that have ended in the last 30 days and have no outcome, oldest first, after one that a sweep has looked at. */
export async function findUnreported(
  sql: Sql,
  after: UnreportedEnd | null,
  limit: number,
): Promise<UnreportedEnd[]> {
  const result = await sql.query(
    `select id as "taskId", ended_at as "endedAt" from vitto_tasks t
     where ended_at >= statement_timestamp() - make_interval(days => $1)
       and (ended_at, id) > (coalesce($2::timestamptz, '-infinity'), coalesce($3::uuid, '00000000-0000-0000-0000-000000000000'))
       and not exists (select 1 from vitto_outcomes o where o.task_id = t.id)
     order by ended_at, id limit $4`,
    [SWEEP_DAYS, after?.endedAt ?? null, after?.taskId ?? null, limit],
  );
  return result.rows as UnreportedEnd[];
}
