import type { Sql } from '../kernel/database/database.ts';
import type { Sealed } from './vault/vault.ts';

/** A provider of models as it was set up in the app; without a key, `keyId` and `sealed` are null. */
export interface StoredProvider {
  name: string;
  keyId: string | null;
  sealed: Buffer | null;
  baseUrl: string | null;
  updatedAt: Date;
}

const COLUMNS = 'name, key_id as "keyId", sealed, base_url as "baseUrl", updated_at as "updatedAt"';

export async function readModelProviders(sql: Sql): Promise<StoredProvider[]> {
  const result = await sql.query(`select ${COLUMNS} from vitto_model_providers order by name`);
  return result.rows as StoredProvider[];
}

/** The row is held until the transaction ends; `null` when there is none. */
export async function lockModelProvider(sql: Sql, name: string): Promise<StoredProvider | null> {
  const result = await sql.query(`select ${COLUMNS} from vitto_model_providers where name = $1 for update`, [
    name,
  ]);
  return (result.rows[0] as StoredProvider | undefined) ?? null;
}

export async function writeModelProvider(
  sql: Sql,
  provider: { name: string; key: Sealed | null; baseUrl: string | null },
): Promise<void> {
  await sql.query(
    `insert into vitto_model_providers (name, key_id, sealed, base_url) values ($1, $2, $3, $4)
     on conflict (name) do update set key_id = excluded.key_id, sealed = excluded.sealed,
       base_url = excluded.base_url, updated_at = now()`,
    [provider.name, provider.key?.keyId ?? null, provider.key?.sealed ?? null, provider.baseUrl],
  );
}

/** False when it was not set up. */
export async function removeModelProvider(sql: Sql, name: string): Promise<boolean> {
  const result = await sql.query('delete from vitto_model_providers where name = $1', [name]);
  return result.rowCount === 1;
}
