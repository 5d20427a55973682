import type { Secret } from '@vitto/contracts';
import type { Sql } from '../kernel/database/database.ts';
import type { Sealed } from './vault/vault.ts';

/** A user may have this many secrets. */
export const SECRETS_MAX = 200;

export type SealedSecret = Sealed & { name: string };

export async function listSecrets(sql: Sql, userId: string): Promise<Secret[]> {
  const result = await sql.query(
    `select name, created_at as "createdAt", updated_at as "updatedAt", last_used_at as "lastUsedAt"
     from vitto_secrets where user_id = $1 order by name`,
    [userId],
  );
  return (result.rows as { name: string; createdAt: Date; updatedAt: Date; lastUsedAt: Date | null }[]).map(
    (row) => ({
      name: row.name,
      createdAt: row.createdAt.toISOString(),
      updatedAt: row.updatedAt.toISOString(),
      lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
    }),
  );
}

/** Writes or replaces a secret; false when the user has as many as they may. */
export async function writeSecret(sql: Sql, userId: string, secret: SealedSecret): Promise<boolean> {
  const result = await sql.query(
    `insert into vitto_secrets (user_id, name, key_id, sealed)
     select $1, $2, $3, $4
     where (select count(*) from vitto_secrets where user_id = $1 and name <> $2) < $5
     on conflict (user_id, name) do update
       set key_id = excluded.key_id, sealed = excluded.sealed, updated_at = now(), last_used_at = null`,
    [userId, secret.name, secret.keyId, secret.sealed, SECRETS_MAX],
  );
  return result.rowCount === 1;
}

/** False when there is none of this name. */
export async function removeSecret(sql: Sql, userId: string, name: string): Promise<boolean> {
  const result = await sql.query('delete from vitto_secrets where user_id = $1 and name = $2', [
    userId,
    name,
  ]);
  return result.rowCount === 1;
}

/** All sealed values of a user, or those of the names. */
export async function readSealedSecrets(
  sql: Sql,
  userId: string,
  names: readonly string[] | null,
): Promise<SealedSecret[]> {
  const result = await sql.query(
    `select name, key_id as "keyId", sealed from vitto_secrets
     where user_id = $1 and ($2::text[] is null or name = any($2)) order by name`,
    [userId, names],
  );
  return result.rows as SealedSecret[];
}

/** Notes that secrets were used, once a minute. */
export async function noteSecretUse(sql: Sql, userId: string, names: readonly string[]): Promise<void> {
  await sql.query(
    `update vitto_secrets set last_used_at = now()
     where user_id = $1 and name = any($2) and coalesce(last_used_at < now() - interval '1 minute', true)`,
    [userId, names],
  );
}
