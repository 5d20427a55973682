import type { Sql } from '../kernel/database/database.ts';

/** The names of people by id; who is gone has none. */
export async function readUserNames(sql: Sql, ids: readonly string[]): Promise<Map<string, string>> {
  const result = await sql.query('select id, name from vitto_users where id = any($1::uuid[])', [ids]);
  return new Map((result.rows as { id: string; name: string }[]).map((row) => [row.id, row.name]));
}

/** People whose name holds a text, whatever its case. */
export async function findUsersNamed(sql: Sql, text: string): Promise<string[]> {
  const result = await sql.query(
    'select id from vitto_users where position(lower($1) in lower(name)) > 0 limit 1000',
    [text],
  );
  return (result.rows as { id: string }[]).map((row) => row.id);
}
