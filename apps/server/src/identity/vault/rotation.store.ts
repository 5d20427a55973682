import type { Sql } from '../../kernel/database/database.ts';
import type { Sealed } from './vault.ts';
import type { SealedTable } from './sealed-table.ts';

export type SealedRow = Sealed & { row: Record<string, string> };

/** Rows whose value another key than `keyId` sealed, in the order of their names after `after`, locked. */
export async function lockSealedRows(
  sql: Sql,
  table: SealedTable,
  keyId: string,
  after: readonly string[] | null,
  limit: number,
): Promise<SealedRow[]> {
  const names = table.key.map((column) => `${column}::text`).join(', ');
  const wanted = [...table.key, ...(table.more ?? [])].map((column) => `${column}::text as "${column}"`);
  const result = await sql.query(
    `select ${wanted.join(', ')}, key_id as "keyId", ${table.column} as sealed from ${table.table}
     where key_id <> $1 and ${table.column} is not null
       and ($2::text[] is null or array[${names}] > $2::text[])
     order by array[${names}] limit $3 for update`,
    [keyId, after, limit],
  );
  return (result.rows as (Record<string, string> & Sealed)[]).map(({ keyId: id, sealed, ...row }) => ({
    keyId: id,
    sealed,
    row,
  }));
}

export async function writeSealed(
  sql: Sql,
  table: SealedTable,
  row: SealedRow['row'],
  value: Sealed,
): Promise<void> {
  const where = table.key.map((column, at) => `${column}::text = $${at + 3}`).join(' and ');
  await sql.query(`update ${table.table} set key_id = $1, ${table.column} = $2 where ${where}`, [
    value.keyId,
    value.sealed,
    ...table.key.map((column) => row[column]),
  ]);
}
