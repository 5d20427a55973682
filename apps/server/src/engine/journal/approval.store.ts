import type { ActionDomain, Approval, NewEvent, Risk } from '@vitto/contracts';
import { mapStrings, toStorableText } from '../../kernel/text/storable.ts';
import { maskSecrets } from '../../kernel/text/mask-secrets.ts';
import type { Sql } from '../../kernel/database/database.ts';
import { DEGRADE_QUESTION } from '../loop/guest-claim.ts';

/** How long an approval waits for its decision. */
export const APPROVAL_HOURS = 24;

export interface NewApproval {
  id: string;
  taskId: string;
  userId: string;
  callId: string;
  tool: string;
  arguments: unknown;
  argumentsHash: string;
  reason: string;
  risk: Risk;
  domain: ActionDomain;
  expiresAt: Date;
}

interface ApprovalRecord extends Omit<Approval, 'createdAt' | 'expiresAt' | 'decidedAt'> {
  createdAt: Date;
  expiresAt: Date;
  decidedAt: Date | null;
}

const COLUMNS = `id, task_id as "taskId", call_id as "callId", tool, arguments, arguments_hash as "argumentsHash", reason, risk,
  domain, state, note, created_at as "createdAt", expires_at as "expiresAt", decided_at as "decidedAt"`;

function toApproval(row: ApprovalRecord): Approval {
  return {
    ...row,
    createdAt: row.createdAt.toISOString(),
    expiresAt: row.expiresAt.toISOString(),
    decidedAt: row.decidedAt?.toISOString() ?? null,
  };
}

export async function insertApprovals(sql: Sql, approvals: NewApproval[]): Promise<void> {
  for (const approval of approvals) {
    await sql.query(
      `insert into vitto_approvals (id, task_id, user_id, call_id, tool, arguments, arguments_hash, reason, risk, domain, state, expires_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 'pending', $11)`,
      [
        approval.id,
        approval.taskId,
        approval.userId,
        approval.callId,
        approval.tool,
        JSON.stringify(mapStrings(approval.arguments, (text) => maskSecrets(toStorableText(text)))),
        approval.argumentsHash,
        approval.reason,
        approval.risk,
        approval.domain,
        approval.expiresAt,
      ],
    );
  }
}

export async function findApproval(sql: Sql, userId: string, id: string): Promise<Approval | null> {
  const result = await sql.query(`select ${COLUMNS} from vitto_approvals where id = $1 and user_id = $2`, [
    id,
    userId,
  ]);
  const row = result.rows[0] as ApprovalRecord | undefined;
  return row === undefined ? null : toApproval(row);
}

export async function listApprovals(
  sql: Sql,
  userId: string,
  state: string | null,
  before: { at: string; id: string } | null,
  limit: number,
): Promise<Approval[]> {
  const result = await sql.query(
    `select ${COLUMNS} from vitto_approvals
     where user_id = $1 and ($2::text is null or state = $2)
       and (created_at, id) < (coalesce($3::timestamptz, 'infinity'), coalesce($4::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
     order by created_at desc, id desc limit $5`,
    [userId, state, before?.at ?? null, before?.id ?? null, limit],
  );
  return (result.rows as ApprovalRecord[]).map(toApproval);
}

/** Decides a pending approval, once: null when somebody was faster or it has expired. */
export async function settleApproval(
  sql: Sql,
  id: string,
  decision: { state: 'approved' | 'refused' | 'expired' | 'void'; by: string; note: string | null },
): Promise<Approval | null> {
  const result = await sql.query(
    `update vitto_approvals set state = $2, decided_by = $3, note = $4, decided_at = clock_timestamp()
     where id = $1 and state = 'pending' and ($2 in ('void', 'expired') or expires_at > clock_timestamp())
     returning ${COLUMNS}`,
    [id, decision.state, decision.by, decision.note],
  );
  const row = result.rows[0] as ApprovalRecord | undefined;
  return row === undefined ? null : toApproval(row);
}

/** The pending approvals of a task (of one tool), locked. */
export async function lockPendingApprovals(sql: Sql, taskId: string, tool?: string): Promise<Approval[]> {
  const result = await sql.query(
    `select ${COLUMNS} from vitto_approvals
     where task_id = $1 and state = 'pending' and tool = coalesce($2, tool) order by created_at, id for update`,
    [taskId, tool ?? null],
  );
  return (result.rows as ApprovalRecord[]).map(toApproval);
}

/** Ends the approvals of a task that nobody will decide any more; the events belong to the caller's transaction. */
export async function voidApprovals(
  sql: Sql,
  taskId: string,
  reason: string,
  tool?: string,
): Promise<NewEvent[]> {
  const events: NewEvent[] = [];
  for (const approval of await lockPendingApprovals(sql, taskId, tool)) {
    await settleApproval(sql, approval.id, { state: 'void', by: 'vitto', note: reason });
    const { id, callId } = approval;
    events.push({
      type: 'approval.decided',
      payload: { approvalId: id, callId, decision: 'void', by: 'vitto', note: reason },
    });
  }
  return events;
}

/** Tasks that wait for a VM while the user may still settle for less, the oldest question first. */
export async function findTasksWaitingForVm(
  sql: Sql,
): Promise<{ id: string; taskId: string; userId: string; template: string | null }[]> {
  const result = await sql.query(
    `select a.id, a.task_id as "taskId", a.user_id as "userId", a.arguments->>'template' as template from vitto_approvals a join vitto_tasks t on t.id = a.task_id
     where a.state = 'pending' and a.tool = $1 and a.arguments->>'waits' = 'true' and t.state = 'waiting_approval'
     order by a.created_at, a.id limit 200`,
    [DEGRADE_QUESTION],
  );
  return result.rows as { id: string; taskId: string; userId: string; template: string | null }[];
}

/** Uses an approval up for the call it was given for; false when it was used before or is not approved. */
export async function useApproval(sql: Sql, id: string, argumentsHash: string): Promise<boolean> {
  const result = await sql.query(
    `update vitto_approvals set used_at = clock_timestamp()
     where id = $1 and arguments_hash = $2 and state = 'approved' and used_at is null`,
    [id, argumentsHash],
  );
  return result.rowCount === 1;
}

/** Pending approvals whose time is over. */
export async function findExpiredApprovals(
  sql: Sql,
): Promise<{ id: string; userId: string; taskId: string }[]> {
  const result = await sql.query(
    `select id, user_id as "userId", task_id as "taskId" from vitto_approvals where state = 'pending' and expires_at <= clock_timestamp() limit 200`,
  );
  return result.rows as { id: string; userId: string; taskId: string }[];
}

/**
 * The same question of other tasks with the same root: whether the process sandbox will do is asked once for all that a
 * task has deployed. Empty for any other approval.
 */
export async function findSameQuestions(sql: Sql, approvalId: string): Promise<string[]> {
  const result = await sql.query(
    `select o.id from vitto_approvals a join vitto_tasks t on t.id = a.task_id
     join vitto_tasks s on s.root_id = t.root_id join vitto_approvals o on o.task_id = s.id
     where a.id = $1 and a.tool = $2 and o.tool = $2 and o.state = 'pending' and o.id <> a.id order by o.id`,
    [approvalId, DEGRADE_QUESTION],
  );
  return (result.rows as { id: string }[]).map((row) => row.id);
}

/** Whether the user has let any task with this root run in the process sandbox. */
export async function isDegradationAllowed(sql: Sql, rootId: string): Promise<boolean> {
  const result = await sql.query(
    `select 1 from vitto_tasks t join vitto_approvals a on a.task_id = t.id
     where t.root_id = $1 and a.tool = $2 and a.state = 'approved' limit 1`,
    [rootId, DEGRADE_QUESTION],
  );
  return result.rowCount === 1;
}

/** What sub-Vittos ask although the user has agreed to it for another task with the same root, and who did. */
export async function findAnsweredQuestions(
  sql: Sql,
): Promise<{ id: string; userId: string; decidedBy: string }[]> {
  const result = await sql.query(
    `select distinct on (o.id) o.id, o.user_id as "userId", a.decided_by as "decidedBy" from vitto_approvals o
     join vitto_tasks t on t.id = o.task_id and t.kind = 'subvitto' join vitto_tasks s on s.root_id = t.root_id
     join vitto_approvals a on a.task_id = s.id and a.tool = o.tool and a.state = 'approved'
     where o.state = 'pending' and o.tool = $1 order by o.id, a.decided_at limit 200`,
    [DEGRADE_QUESTION],
  );
  return result.rows as { id: string; userId: string; decidedBy: string }[];
}
