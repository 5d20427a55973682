import type { ActionDomain, Outcome, VerdictSource } from '@vitto/contracts';
import type { Sql } from '../../kernel/database/database.ts';
import type { EndedTask } from './ended-task.store.ts';

const COLUMNS = `task_id as "taskId", user_id as "userId", parent_task_id as "parentTaskId", root_task_id as "rootTaskId", title, source,
  role, expert, tier, complexity, domain, tools_used as "toolsUsed", end_state as end, success,
  verdict_source as "verdictSource", model, iterations, tokens::float8 as tokens, cost_nano::float8 as "costNano",
  duration_ms::float8 as "durationMs", ended_at as "endedAt"`;

type Row = Omit<Outcome, 'costUsd' | 'endedAt'> & { userId: string; costNano: number | null; endedAt: Date };

/** An outcome and whose it is. */
export interface OwnedOutcome {
  userId: string;
  outcome: Outcome;
}

function toOwned({ userId, costNano, endedAt, ...rest }: Row): OwnedOutcome {
  const costUsd = costNano === null ? null : costNano / 1e9;
  return { userId, outcome: { ...rest, costUsd, endedAt: endedAt.toISOString() } };
}

async function readOne(sql: Sql, text: string, values: unknown[]): Promise<OwnedOutcome | null> {
  const row = (await sql.query(text, values)).rows[0] as Row | undefined;
  return row === undefined ? null : toOwned(row);
}

/** Keeps the outcome of a task as the task itself has it; `null` when it has one already. */
export function insertOutcome(
  sql: Sql,
  task: EndedTask,
  found: { domain: ActionDomain; toolsUsed: string[]; model: string | null; verdictSource: 'self' | 'check' },
): Promise<OwnedOutcome | null> {
  return readOne(
    sql,
    `insert into vitto_outcomes (task_id, user_id, parent_task_id, root_task_id, title, source, role, tier, complexity,
       domain, tools_used, end_state, success, verdict_source, model, iterations, tokens, cost_nano, duration_ms, ended_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)
     on conflict (task_id) do nothing returning ${COLUMNS}`,
    [
      task.taskId,
      task.userId,
      task.parentTaskId,
      task.rootTaskId,
      task.title,
      task.source,
      task.role,
      task.tier,
      task.complexity,
      found.domain,
      found.toolsUsed,
      task.end,
      task.success,
      found.verdictSource,
      found.model,
      task.iterations,
      task.tokens,
      task.costNano,
      task.durationMs,
      task.endedAt,
    ],
  );
}

/** The outcome of a task, whoever's it is. For the engine's side, never for a request. */
export function findOutcome(sql: Sql, taskId: string): Promise<OwnedOutcome | null> {
  return readOne(sql, `select ${COLUMNS} from vitto_outcomes where task_id = $1`, [taskId]);
}

/** An outcome of this user, locked for a change of its verdict. */
export function lockOutcome(sql: Sql, userId: string, taskId: string): Promise<OwnedOutcome | null> {
  return readOne(
    sql,
    `select ${COLUMNS} from vitto_outcomes where task_id = $1 and user_id = $2 for no key update`,
    [taskId, userId],
  );
}

export async function updateVerdict(
  sql: Sql,
  taskId: string,
  verdict: { success: boolean; source: VerdictSource },
): Promise<OwnedOutcome> {
  const changed = await readOne(
    sql,
    `update vitto_outcomes set success = $2, verdict_source = $3 where task_id = $1 returning ${COLUMNS}`,
    [taskId, verdict.success, verdict.source],
  );
  if (changed === null) throw new Error(`the outcome of task ${taskId} is gone although its row is locked`);
  return changed;
}

/** While a subscriber is told of a task in this transaction, nobody else tells it of the same task. */
export async function lockTelling(sql: Sql, subscriber: string, taskId: string): Promise<void> {
  await sql.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [
    `vitto-outcome ${subscriber} ${taskId}`,
  ]);
}

/** A page of a user's outcomes, newest end first, after the cursor's (endedAt, taskId). */
export async function listOutcomes(
  sql: Sql,
  userId: string,
  query: {
    taskId: string | null;
    parentTaskId: string | null;
    before: { at: string; id: string } | null;
    limit: number;
  },
): Promise<Outcome[]> {
  const result = await sql.query(
    `select ${COLUMNS} from vitto_outcomes
     where user_id = $1 and ($2::uuid is null or task_id = $2) and ($3::uuid is null or parent_task_id = $3)
       and (ended_at, task_id) < (coalesce($4::timestamptz, 'infinity'), coalesce($5::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
     order by ended_at desc, task_id desc limit $6`,
    [
      userId,
      query.taskId,
      query.parentTaskId,
      query.before?.at ?? null,
      query.before?.id ?? null,
      query.limit,
    ],
  );
  return (result.rows as Row[]).map((row) => toOwned(row).outcome);
}
