import type { SqlClient } from '../kernel/database/database.ts';

/** An entry as its hash covers it: every field as text, exactly as it is stored. */
export interface ChainLink {
  seq: string;
  fields: (string | null)[];
  hash: Buffer;
}

const PAGE = 1_000;

/** The fields in the order of `vitto_audit_bytes`, and the hash. */
const READ_PAGE = {
  text: `select seq::text, (extract(epoch from at) * 1000)::bigint::text, actor_id::text, via, address, action, object_type,
       object_id, detail::text, hash
     from vitto_audit_events e where e.seq > $1 order by e.seq limit ${PAGE}`,
  rowMode: 'array' as const,
};

export async function readChainHead(sql: SqlClient): Promise<{ seq: number; hash: Buffer }> {
  const result = await sql.query('select seq::float8 as seq, hash from vitto_audit_head where id = 1');
  const head = result.rows[0] as { seq: number; hash: Buffer } | undefined;
  return head ?? { seq: 0, hash: Buffer.alloc(32) };
}

/** All entries in the order of their numbers, a page in memory at a time. */
export async function* readChain(sql: SqlClient): AsyncGenerator<ChainLink> {
  let after = '0';
  for (;;) {
    const { rows } = await sql.query<(string | null | Buffer)[]>({ ...READ_PAGE, values: [after] });
    for (const row of rows) {
      const fields = row.slice(0, -1) as (string | null)[];
      yield { seq: fields[0] ?? '', fields, hash: row.at(-1) as Buffer };
    }
    if (rows.length < PAGE) return;
    after = String(rows.at(-1)?.[0]);
  }
}
