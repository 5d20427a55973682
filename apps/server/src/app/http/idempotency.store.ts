import type { Database } from '../../kernel/database/database.ts';

/** A request that has been at work for longer than this has died; another may take its key over. */
const ABANDONED_SECONDS = 60;
/** How long an answer is kept. */
const KEPT_HOURS = 24;

export interface KeyedRequest {
  userId: string;
  key: string;
  requestHash: string;
}

export type Claim =
  | { kind: 'claimed' }
  | { kind: 'answered'; status: number; body: unknown }
  | { kind: 'in-progress' }
  | { kind: 'other-request' };

/** Takes a key for a request, or says what became of the request that has it. Of several at once one gets it. */
export async function claimKey(database: Database, request: KeyedRequest): Promise<Claim> {
  const claimed = await database.pool.query(
    `insert into vitto_idempotency_keys as k (user_id, key, request_hash) values ($1, $2, $3)
     on conflict (user_id, key) do update
       set request_hash = excluded.request_hash, status = null, body = null, created_at = now()
       where k.created_at < now() - make_interval(hours => $5)
          or (k.status is null and k.request_hash = excluded.request_hash
              and k.created_at < now() - make_interval(secs => $4))`,
    [request.userId, request.key, request.requestHash, ABANDONED_SECONDS, KEPT_HOURS],
  );
  if (claimed.rowCount === 1) return { kind: 'claimed' };
  const result = await database.pool.query<{ requestHash: string; status: number | null; body: unknown }>(
    'select request_hash as "requestHash", status, body from vitto_idempotency_keys where user_id = $1 and key = $2',
    [request.userId, request.key],
  );
  const row = result.rows[0];
  // Gone between the two statements: the first request failed and gave its key back.
  if (row === undefined) return { kind: 'in-progress' };
  if (row.requestHash !== request.requestHash) return { kind: 'other-request' };
  if (row.status === null) return { kind: 'in-progress' };
  return { kind: 'answered', status: row.status, body: row.body };
}

export async function keepAnswer(
  database: Database,
  request: KeyedRequest,
  answer: { status: number; body: string | null },
): Promise<void> {
  await database.pool.query(
    `update vitto_idempotency_keys set status = $4, body = $5
     where user_id = $1 and key = $2 and request_hash = $3`,
    [request.userId, request.key, request.requestHash, answer.status, answer.body],
  );
}

/** Gives a key back after a fault: the same request may try again. */
export async function releaseKey(database: Database, request: KeyedRequest): Promise<void> {
  await database.pool.query(
    `delete from vitto_idempotency_keys
     where user_id = $1 and key = $2 and request_hash = $3 and status is null`,
    [request.userId, request.key, request.requestHash],
  );
}

export async function deleteOldKeys(database: Database): Promise<void> {
  await database.pool.query(
    'delete from vitto_idempotency_keys where created_at < now() - make_interval(hours => $1)',
    [KEPT_HOURS],
  );
}
