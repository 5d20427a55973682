import type { Database } from '../../kernel/database/database.ts';
import type { Held } from './machine.store.ts';

export interface ClaimRow {
  sessionId: string;
  taskId: string;
  userId: string;
  fence: number;
  since: Date;
  lastCallAt: Date;
}

const COLUMNS = `session_id as "sessionId", task_id as "taskId", user_id as "userId", fence::float8 as fence, since,
  last_call_at as "lastCallAt"`;

/**
 * Writes a task's claim on a session whose VM runs under this holder; the same task again is the same claim, with the
 * higher fence. `null`: the session does not run (any more), or the claim has a higher fence already.
 */
export async function putClaim(
  database: Database,
  held: Held,
  claim: { taskId: string; userId: string; fence: number },
): Promise<ClaimRow | null> {
  const result = await database.pool.query(
    `insert into vitto_vm_claims as c (session_id, task_id, user_id, fence, since, last_call_at)
     select id, $4, user_id, $6, clock_timestamp(), clock_timestamp() from vitto_vm_sessions
     where id = $1 and host_id = $2 and lease_holder = $3 and state = 'running' and user_id = $5
     on conflict (session_id, task_id) do update
       set fence = excluded.fence, last_call_at = excluded.last_call_at where c.fence <= excluded.fence
     returning ${COLUMNS}`,
    [held.id, held.hostId, held.holder, claim.taskId, claim.userId, claim.fence],
  );
  return (result.rows[0] as ClaimRow | undefined) ?? null;
}

/** Writes the higher fence of a task that another worker has taken over. */
export async function raiseClaim(
  database: Database,
  claim: { sessionId: string; taskId: string; fence: number },
): Promise<void> {
  await database.pool.query(
    `update vitto_vm_claims set fence = $3, last_call_at = clock_timestamp()
     where session_id = $1 and task_id = $2 and fence < $3`,
    [claim.sessionId, claim.taskId, claim.fence],
  );
}

/** Removes a task's claim, unless a later owner of the task than `fence` has it (`null`: whoever has it). Idempotent. */
export async function deleteClaim(
  database: Database,
  claim: { sessionId: string; taskId: string; fence: number | null },
): Promise<void> {
  await database.pool.query(
    `delete from vitto_vm_claims
     where session_id = $1 and task_id = $2 and ($3::bigint is null or fence <= $3)`,
    [claim.sessionId, claim.taskId, claim.fence],
  );
}

/** Notes that tasks have called. */
export async function touchClaims(
  database: Database,
  claims: { sessionId: string; taskId: string }[],
): Promise<void> {
  await database.pool.query(
    `update vitto_vm_claims c set last_call_at = clock_timestamp()
     from unnest($1::uuid[], $2::uuid[]) as called(session_id, task_id)
     where c.session_id = called.session_id and c.task_id = called.task_id`,
    [claims.map((one) => one.sessionId), claims.map((one) => one.taskId)],
  );
}

/** Claims of this host that have made no call for so long. */
export async function listIdleClaims(
  database: Database,
  hostId: string,
  idleMs: number,
): Promise<{ sessionId: string; taskId: string }[]> {
  const result = await database.pool.query(
    `select c.session_id as "sessionId", c.task_id as "taskId" from vitto_vm_claims c
     join vitto_vm_sessions s on s.id = c.session_id
     where s.host_id = $1 and c.last_call_at < clock_timestamp() - make_interval(secs => $2::float8 / 1000)`,
    [hostId, idleMs],
  );
  return result.rows as { sessionId: string; taskId: string }[];
}

/** The claims on all machines of a host. */
export async function listClaims(database: Database, hostId: string): Promise<ClaimRow[]> {
  const result = await database.pool.query(
    `select ${COLUMNS} from vitto_vm_claims
     where session_id in (select id from vitto_vm_sessions where host_id = $1) order by since, task_id`,
    [hostId],
  );
  return result.rows as ClaimRow[];
}
