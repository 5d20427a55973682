import type { Sql } from '../../kernel/database/database.ts';
import type { Sealed } from '../vault/vault.ts';

/** A user may have this many. */
export const DEPLOY_KEYS_MAX = 200;

export interface StoredDeployKey extends Sealed {
  id: string;
  /** As `formatRepository` writes it. */
  repository: string;
  publicKey: string;
  /** Each as `formatHostKey` writes it. */
  hostKeys: string[];
  createdAt: Date;
  lastUsedAt: Date | null;
}

const COLUMNS = `id, repository, public_key as "publicKey", key_id as "keyId", sealed, host_keys as "hostKeys",
  created_at as "createdAt", last_used_at as "lastUsedAt"`;

export async function readDeployKeys(sql: Sql, userId: string): Promise<StoredDeployKey[]> {
  const result = await sql.query(
    `select ${COLUMNS} from vitto_deploy_keys where user_id = $1 order by repository`,
    [userId],
  );
  return result.rows as StoredDeployKey[];
}

/** `exists`: there is a key for this repository. `too-many`: the user has as many as they may. */
export async function insertDeployKey(
  sql: Sql,
  userId: string,
  key: Omit<StoredDeployKey, 'createdAt' | 'lastUsedAt'>,
): Promise<StoredDeployKey | 'exists' | 'too-many'> {
  const count = await sql.query(
    `select count(*)::int as count, coalesce(bool_or(repository = $2), false) as "isThere"
     from vitto_deploy_keys where user_id = $1`,
    [userId, key.repository],
  );
  const found = count.rows[0] as { count: number; isThere: boolean };
  if (found.isThere) return 'exists';
  if (found.count >= DEPLOY_KEYS_MAX) return 'too-many';
  const result = await sql.query(
    `insert into vitto_deploy_keys (id, user_id, repository, public_key, key_id, sealed, host_keys)
     values ($1, $2, $3, $4, $5, $6, $7) on conflict (user_id, repository) do nothing returning ${COLUMNS}`,
    [key.id, userId, key.repository, key.publicKey, key.keyId, key.sealed, JSON.stringify(key.hostKeys)],
  );
  return (result.rows[0] as StoredDeployKey | undefined) ?? 'exists';
}

/** The repository of the key that is gone; `null` when the user has none of this id. */
export async function deleteDeployKey(sql: Sql, userId: string, id: string): Promise<string | null> {
  const result = await sql.query(
    'delete from vitto_deploy_keys where user_id = $1 and id = $2 returning repository',
    [userId, id],
  );
  return (result.rows[0] as { repository: string } | undefined)?.repository ?? null;
}

export async function noteDeployKeyUse(sql: Sql, userId: string, ids: readonly string[]): Promise<void> {
  await sql.query('update vitto_deploy_keys set last_used_at = now() where user_id = $1 and id = any($2)', [
    userId,
    ids,
  ]);
}
