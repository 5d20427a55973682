import type { AuditEntry } from '@vitto/contracts';
import type { Sql } from '../kernel/database/database.ts';

export interface AuditFilter {
  /** Only what this person did; `null`: what anybody did. */
  actorId: string | null;
  /** Part of an action or of an object, whatever its case. */
  text: string | null;
  /** People whose name holds the text: their entries fit too. */
  namedIds: readonly string[];
  action: string | null;
  from: string | null;
  to: string | null;
  /** Only entries before this number. */
  before: number | null;
  limit: number;
}

/** An entry without the name of who did it, which the audit trail does not know. */
export type AuditRecord = Omit<AuditEntry, 'actorName'>;

/** Entries that fit, newest first. */
export async function readAudit(sql: Sql, filter: AuditFilter): Promise<AuditRecord[]> {
  const result = await sql.query(
    `select seq::float8 as seq, at, actor_id as "actorId", via, address, action, object_type as "objectType",
       object_id as "objectId", detail, encode(hash, 'hex') as hash
     from vitto_audit_events e
     where ($1::uuid is null or actor_id = $1)
       and ($2::text is null or action ilike $2 or object_type ilike $2 or object_id ilike $2 or actor_id = any($3::uuid[]))
       and ($4::text is null or action = $4 or starts_with(action, $4 || '.'))
       and ($5::timestamptz is null or at >= $5) and ($6::timestamptz is null or at < $6)
       and ($7::bigint is null or seq < $7)
     order by e.seq desc limit $8`,
    [
      filter.actorId,
      filter.text === null ? null : `%${filter.text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`,
      filter.namedIds,
      filter.action,
      filter.from,
      filter.to,
      filter.before,
      filter.limit,
    ],
  );
  return (result.rows as (Omit<AuditRecord, 'at'> & { at: Date })[]).map((row) => ({
    ...row,
    at: row.at.toISOString(),
  }));
}

/** The actions there are entries of, in order; of one person, or (`null`) of anybody, by jumping along the index. */
export async function readAuditActions(sql: Sql, actorId: string | null): Promise<string[]> {
  const result =
    actorId === null
      ? await sql.query(
          `with recursive known as (
             (select action from vitto_audit_events order by action limit 1)
             union all
             select (select action from vitto_audit_events where action > known.action order by action limit 1)
             from known where known.action is not null
           ) select action from known where action is not null`,
        )
      : await sql.query(
          'select distinct action from vitto_audit_events where actor_id = $1 order by action',
          [actorId],
        );
  return (result.rows as { action: string }[]).map((row) => row.action);
}
