import type { PushSubscription } from '@vitto/contracts';
import type { Sealed, Vault } from '../identity/index.ts';
import { notFound } from '../kernel/app-error.ts';
import type { Sql } from '../kernel/database/database.ts';

const COLUMNS = `id, endpoint, browser, created_at as "createdAt", last_sent_at as "lastSentAt"`;
interface Row {
  id: string;
  endpoint: string;
  browser: string;
  createdAt: Date;
  lastSentAt: Date | null;
}

/** The endpoint is a secret of its own: whoever knows it can send. People see its host. */
function toSubscription(row: Row): PushSubscription {
  return {
    id: row.id,
    service: new URL(row.endpoint).host,
    browser: row.browser,
    createdAt: row.createdAt.toISOString(),
    lastSentAt: row.lastSentAt?.toISOString() ?? null,
  };
}

/** Keeps a browser's subscription; one that is known changes hands to whoever is signed in there now. */
export async function putPushSubscription(
  sql: Sql,
  userId: string,
  subscription: { id: string; endpoint: string; browser: string; keys: Sealed },
): Promise<PushSubscription> {
  const result = await sql.query(
    `insert into vitto_push_subscriptions (id, user_id, endpoint, browser, key_id, sealed_keys, position)
     values ($1, $2, $3, $4, $5, $6, coalesce((select position from vitto_journal_positions where user_id = $2), 0))
     on conflict (endpoint) do update set id = excluded.id, user_id = excluded.user_id, browser = excluded.browser,
       key_id = excluded.key_id, sealed_keys = excluded.sealed_keys, position = excluded.position
     returning ${COLUMNS}`,
    [
      subscription.id,
      userId,
      subscription.endpoint,
      subscription.browser,
      subscription.keys.keyId,
      subscription.keys.sealed,
    ],
  );
  return toSubscription(result.rows[0] as Row);
}

export async function listPushSubscriptions(sql: Sql, userId: string): Promise<PushSubscription[]> {
  const result = await sql.query(
    `select ${COLUMNS} from vitto_push_subscriptions where user_id = $1 order by created_at desc, id desc`,
    [userId],
  );
  return (result.rows as Row[]).map(toSubscription);
}

/** @throws AppError `push-subscription.not-found`. */
export async function deletePushSubscription(sql: Sql, userId: string, id: string): Promise<void> {
  const result = await sql.query('delete from vitto_push_subscriptions where id = $1 and user_id = $2', [
    id,
    userId,
  ]);
  if (result.rowCount === 0) throw notFound('push-subscription');
}

/** A subscription with what it takes to send to it; `null` when it is gone. */
export interface PushTarget {
  id: string;
  endpoint: string;
  keys: Sealed;
}

export async function readPushTarget(sql: Sql, userId: string, id: string): Promise<PushTarget | null> {
  const result = await sql.query(
    `select id, endpoint, key_id as "keyId", sealed_keys as sealed
     from vitto_push_subscriptions where id = $1 and user_id = $2`,
    [id, userId],
  );
  const row = result.rows[0] as (Omit<PushTarget, 'keys'> & Sealed) | undefined;
  return row === undefined
    ? null
    : { id: row.id, endpoint: row.endpoint, keys: { keyId: row.keyId, sealed: row.sealed } };
}

export async function notePushed(sql: Sql, id: string): Promise<void> {
  await sql.query('update vitto_push_subscriptions set last_sent_at = now() where id = $1', [id]);
}

/** The installation's key pair for Web Push. The first process that needs it makes it. */
export async function readPushKeys(
  sql: Sql,
  vault: Vault,
  generate: () => { publicKey: string; privateKey: string },
): Promise<{ publicKey: string; privateKey: string }> {
  const found = await findPushKeys(sql);
  if (found !== null) return openPushKeys(found, vault);
  const made = generate();
  const sealed = vault.seal(made.privateKey, PUSH_KEY_OF);
  await sql.query(
    `insert into vitto_push_keys (id, public_key, key_id, sealed_private_key) values (1, $1, $2, $3)
     on conflict (id) do nothing`,
    [made.publicKey, sealed.keyId, sealed.sealed],
  );
  const kept = await findPushKeys(sql);
  if (kept === null) throw new Error('the keys of Web Push are not there although they were just made');
  return openPushKeys(kept, vault);
}

export const PUSH_KEY_OF = 'push-key';
type KeyRow = { publicKey: string } & Sealed;

async function findPushKeys(sql: Sql): Promise<KeyRow | null> {
  const result = await sql.query(
    'select public_key as "publicKey", key_id as "keyId", sealed_private_key as sealed from vitto_push_keys',
  );
  return (result.rows[0] as KeyRow | undefined) ?? null;
}

function openPushKeys({ publicKey, ...sealed }: KeyRow, vault: Vault) {
  return { publicKey, privateKey: vault.open(sealed, PUSH_KEY_OF) };
}
