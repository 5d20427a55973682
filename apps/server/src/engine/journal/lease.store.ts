import type { Failure, WaitingFor, WaitingState } from '@vitto/contracts';
import type { Sql } from '../../kernel/database/database.ts';
import { findForgottenSubVittos } from './sub-vitto.store.ts';

/** How long a task stays with a worker that gives no sign of life, in seconds by the database's clock. */
export const LEASE_SECONDS = 12;
/** How often a worker renews the leases it holds, in milliseconds. */
export const RENEW_EVERY_MS = 3_000;
/** Workers that may die while they run a task before it is failed as poisonous. */
export const MAX_DEATHS = 3;

/**
 * Running time up to now, or up to the end of the lease of an owner that was lost, in milliseconds: nobody knows how
 * long it lived, but a task whose workers die must not run beyond its time limit unseen.
 */
const RAN_UNDER_LEASE =
  'greatest(0, coalesce(extract(epoch from least(t.lease_until, clock_timestamp()) - t.running_since) * 1000, 0))::bigint';

/**
 * Makes `worker` the owner of a task that is queued, or whose owner's lease has run out. The new fencing number
 * shuts every earlier owner out; the running time of an owner that was lost is kept.
 * @returns the fence and whether an owner was lost; `null` when the task is not to be had.
 */
export async function acquireLease(
  sql: Sql,
  taskId: string,
  worker: string,
): Promise<{ fence: number; lostOwner: boolean; deaths: number } | null> {
  const result = await sql.query(
    `update vitto_tasks as t set
       state = 'running', lease_holder = $2, lease_until = clock_timestamp() + make_interval(secs => $3), fence = t.fence + 1,
       deaths = t.deaths + case when old.state = 'running' then 1 else 0 end, waiting_for = null,
       ran_ms = t.ran_ms + ${RAN_UNDER_LEASE},
       started_at = coalesce(t.started_at, clock_timestamp()), running_since = clock_timestamp()
     from (select id, state from vitto_tasks where id = $1 for no key update) as old
     where t.id = old.id and (old.state = 'queued' or (old.state = 'running' and t.lease_until < clock_timestamp()))
     returning t.fence::float8 as fence, old.state = 'running' as "lostOwner", t.deaths`,
    [taskId, worker, LEASE_SECONDS],
  );
  return (result.rows[0] as { fence: number; lostOwner: boolean; deaths: number } | undefined) ?? null;
}

/** Renews leases of `worker`; the ids that come back are still its own. */
export async function renewLeases(sql: Sql, worker: string, taskIds: string[]): Promise<Set<string>> {
  const result = await sql.query(
    `update vitto_tasks set lease_until = clock_timestamp() + make_interval(secs => $3)
     where id = any($1::uuid[]) and lease_holder = $2 and state = 'running' returning id`,
    [taskIds, worker, LEASE_SECONDS],
  );
  return new Set((result.rows as { id: string }[]).map((row) => row.id));
}

/** Ends at once the leases of worker processes that are known to be dead (same host, their pid is gone). */
export async function expireLeases(sql: Sql, workers: string[]): Promise<string[]> {
  const result = await sql.query(
    `update vitto_tasks set lease_until = clock_timestamp() - interval '1 second'
     where lease_holder = any($1::text[]) and state = 'running' returning id`,
    [workers],
  );
  return (result.rows as { id: string }[]).map((row) => row.id);
}

/** Takes a task out of its owner's hands inside a transaction that ends it: the caller is its owner until then. */
export async function seizeLease(sql: Sql, taskId: string, by: string): Promise<number> {
  const result = await sql.query(
    `update vitto_tasks as t set
       fence = fence + 1, lease_holder = $2, lease_until = clock_timestamp() + interval '1 minute', waiting_for = null,
       ran_ms = ran_ms + ${RAN_UNDER_LEASE},
       running_since = null, state = 'running'
     where id = $1 returning fence::float8 as fence`,
    [taskId, by],
  );
  return (result.rows[0] as { fence: number }).fence;
}

const STOP_RUNNING = `lease_holder = null, lease_until = null, running_since = null,
  ran_ms = ran_ms + coalesce(extract(epoch from clock_timestamp() - running_since) * 1000, 0)::bigint`;

/**
 * Changes of state by the owner. Each holds only while the fence is current and no event that the owner has not
 * read has come in (`seq`): false means that there is something to read first, or that the lease is lost.
 */
export async function parkTask(
  sql: Sql,
  owner: { taskId: string; fence: number; seq: number },
  state: WaitingState,
  waitingFor: WaitingFor,
): Promise<boolean> {
  const result = await sql.query(
    `update vitto_tasks set state = $4, waiting_for = $5, ${STOP_RUNNING}
     where id = $1 and fence = $2 and seq = $3 and state = 'running'`,
    [owner.taskId, owner.fence, owner.seq, state, JSON.stringify(waitingFor)],
  );
  return result.rowCount === 1;
}

export async function requeueTask(sql: Sql, owner: { taskId: string; fence: number }): Promise<boolean> {
  const result = await sql.query(
    `update vitto_tasks set state = 'queued', ${STOP_RUNNING} where id = $1 and fence = $2 and state = 'running'`,
    [owner.taskId, owner.fence],
  );
  return result.rowCount === 1;
}

export async function endTask(
  sql: Sql,
  owner: { taskId: string; fence: number; seq: number | null },
  end:
    | { state: 'completed'; result: string; success: boolean }
    | { state: 'failed'; error: Failure }
    | { state: 'cancelled' },
): Promise<boolean> {
  const result = await sql.query(
    `update vitto_tasks set state = $4, ended_at = clock_timestamp(), result = $5, is_success = $6, error = $7, waiting_for = null, ${STOP_RUNNING}
     where id = $1 and fence = $2 and ($3::int is null or seq = $3) and state = 'running'`,
    [
      owner.taskId,
      owner.fence,
      owner.seq,
      end.state,
      end.state === 'completed' ? end.result : null,
      end.state === 'completed' ? end.success : null,
      end.state === 'failed' ? JSON.stringify(end.error) : null,
    ],
  );
  return result.rowCount === 1;
}

/** Puts a waiting task back into the queue; false when it does not wait. */
export async function wakeTask(sql: Sql, taskId: string): Promise<boolean> {
  const result = await sql.query(
    `update vitto_tasks set state = 'queued', waiting_for = null where id = $1 and state like 'waiting%'`,
    [taskId],
  );
  return result.rowCount === 1;
}

/** Locks a task's row and those of its ancestors, from the task up, as every write that settles or reserves does. */
export async function lockChain(sql: Sql, taskId: string): Promise<void> {
  await sql.query('select vitto_lock_chain($1)', [taskId]);
}

/** Gives back what the task holds of its budgets, and books what an unanswered call has cost. */
export async function releaseReservations(
  sql: Sql,
  taskId: string,
  tokens: number,
  costNano: number,
): Promise<void> {
  await sql.query('select vitto_release($1, $2, $3)', [taskId, tokens, costNano]);
}

export async function taintTask(sql: Sql, owner: { taskId: string; fence: number }): Promise<void> {
  await sql.query('update vitto_tasks set is_tainted = true where id = $1 and fence = $2', [
    owner.taskId,
    owner.fence,
  ]);
}

/**
 * Of tasks that run in this process and whose leases were not renewed: those that somebody else has taken, or that are
 * gone, whatever has become of them since. What this worker has itself parked or ended is not among them.
 */
export async function findLostLeases(sql: Sql, worker: string, taskIds: string[]): Promise<string[]> {
  // The fence has grown since this worker took the task: there has been another owner, or a cancel.
  const result = await sql.query(
    `select own.id from unnest($1::uuid[]) as own (id) left join vitto_tasks t on t.id = own.id
     where t.id is null or t.fence <> (
       select (e.payload->>'fence')::bigint from vitto_task_events e
       where e.task_id = own.id and e.type in ('task.started', 'task.resumed') and e.payload->>'worker' = $2
       order by e.seq desc limit 1)`,
    [taskIds, worker],
  );
  return (result.rows as { id: string }[]).map((row) => row.id);
}

/** How many tasks of each kind a sweep looks after: the next sweep finds the others. */
const SWEEP_LIMIT = 50;

/**
 * Tasks that ought to run and may have no job that wakes a worker: first those whose owner was lost, then those that
 * are queued, the oldest first; of sub-Vittos those that may start now.
 */
export async function findForgottenTasks(sql: Sql, maxSubVittos: number): Promise<string[]> {
  // `statement_timestamp`, because an index cannot be searched for a time that changes with each row.
  const lost = await sql.query(
    `select id from vitto_tasks where state = 'running' and lease_until < statement_timestamp()
     order by lease_until limit $1`,
    [SWEEP_LIMIT],
  );
  const queued = await sql.query(
    `select id from vitto_tasks where state = 'queued' and kind <> 'subvitto' order by created_at, id limit $1`,
    [SWEEP_LIMIT],
  );
  const ids = [lost, queued].flatMap((result) => (result.rows as { id: string }[]).map((row) => row.id));
  return [...ids, ...(await findForgottenSubVittos(sql, maxSubVittos, SWEEP_LIMIT))];
}
