import type { Failure, McpServer, McpTransport } from '@vitto/contracts';
import { AppError, notFound } from '../../kernel/app-error.ts';
import { sqlState, type Sql } from '../../kernel/database/database.ts';
import type { Offer } from './offer.ts';

/** A server as it is stored. */
export interface McpServerRecord extends Omit<McpServer, 'state' | 'checkedAt' | 'createdAt' | 'updatedAt'> {
  userId: string;
  checkedAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
}

const COLUMNS = `id, user_id as "userId", name, transport, domain, risk, tool_choices as "toolChoices",
  is_enabled as "isEnabled", approved_tools as "approvedTools", approved_hash as "approvedHash",
  offered_tools as "offeredTools", offered_hash as "offeredHash", checked_at as "checkedAt",
  last_error as "lastError", created_at as "createdAt", updated_at as "updatedAt"`;

export function toMcpServer(record: McpServerRecord): McpServer {
  const { userId: _, checkedAt, createdAt, updatedAt, ...rest } = record;
  return {
    ...rest,
    state: stateOf(record),
    checkedAt: checkedAt?.toISOString() ?? null,
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  };
}

function stateOf(record: McpServerRecord): McpServer['state'] {
  if (!record.isEnabled) return 'off';
  if (record.approvedHash !== null && record.offeredHash !== null) return 'changed';
  if (record.lastError !== null) return 'failing';
  return record.approvedHash === null ? 'new' : 'ready';
}

/** @throws AppError `mcp.name-taken`. */
export async function insertMcpServer(
  sql: Sql,
  server: Pick<McpServerRecord, 'id' | 'userId' | 'name' | 'transport' | 'domain' | 'risk'>,
): Promise<McpServerRecord> {
  const { id, userId, name, transport, domain, risk } = server;
  try {
    const result = await sql.query(
      `insert into vitto_mcp_servers (id, user_id, name, transport, domain, risk)
       values ($1, $2, $3, $4, $5, $6) returning ${COLUMNS}`,
      [id, userId, name, JSON.stringify(transport), domain, risk],
    );
    return result.rows[0] as McpServerRecord;
  } catch (error) {
    if (sqlState(error) !== '23505') throw error;
    throw new AppError('mcp.name-taken', `You already have an MCP server named ${name}.`, {
      status: 409,
      hint: 'Take another name, or change the server that has it.',
      errors: [{ path: 'name', message: 'taken' }],
    });
  }
}

export async function listMcpServers(sql: Sql, userId: string): Promise<McpServerRecord[]> {
  const result = await sql.query(
    `select ${COLUMNS} from vitto_mcp_servers where user_id = $1 order by name`,
    [userId],
  );
  return result.rows as McpServerRecord[];
}

export async function findMcpServer(sql: Sql, userId: string, id: string): Promise<McpServerRecord | null> {
  const result = await sql.query(`select ${COLUMNS} from vitto_mcp_servers where id = $1 and user_id = $2`, [
    id,
    userId,
  ]);
  return (result.rows[0] as McpServerRecord | undefined) ?? null;
}

/** Changes with every change of any server of the user. */
export async function readMcpVersion(sql: Sql, userId: string): Promise<string> {
  const result = await sql.query(
    `select coalesce(string_agg(id || ':' || xmin, ',' order by id), '') as version
     from vitto_mcp_servers where user_id = $1 and is_enabled and approved_hash is not null`,
    [userId],
  );
  return (result.rows[0] as { version: string }).version;
}

export type McpServerChange = Partial<
  Pick<McpServerRecord, 'transport' | 'domain' | 'risk' | 'toolChoices' | 'isEnabled'>
>;

/** Changes what is given. Another transport is another server: what was approved and offered goes. */
export async function updateMcpServer(
  sql: Sql,
  userId: string,
  id: string,
  change: McpServerChange,
): Promise<McpServerRecord> {
  const { transport, toolChoices } = change;
  const result = await sql.query(
    `update vitto_mcp_servers s set
       transport = coalesce($3::jsonb, transport),
       domain = coalesce($4, domain),
       risk = coalesce($5, risk),
       tool_choices = coalesce($6::jsonb, tool_choices),
       is_enabled = coalesce($7, is_enabled),
       approved_tools = case when is_other then '[]'::jsonb else approved_tools end,
       approved_hash = case when is_other then null else approved_hash end,
       offered_tools = case when is_other then null else offered_tools end,
       offered_hash = case when is_other then null else offered_hash end,
       checked_at = case when is_other then null else checked_at end,
       last_error = case when is_other then null else last_error end,
       updated_at = now()
     from (select id as other_id, transport is distinct from coalesce($3::jsonb, transport) as is_other
           from vitto_mcp_servers where id = $1 and user_id = $2 for update) o
     where s.id = o.other_id returning ${COLUMNS}`,
    [
      id,
      userId,
      transport === undefined ? null : JSON.stringify(transport),
      change.domain ?? null,
      change.risk ?? null,
      toolChoices === undefined ? null : JSON.stringify(toolChoices),
      change.isEnabled ?? null,
    ],
  );
  return one(result.rows);
}

/** Notes what a server offers; where that is what is approved, only that it does. A server that is another by now is left alone. */
export async function noteOffer(
  sql: Sql,
  server: { id: string; transport: McpTransport },
  offer: Offer,
): Promise<void> {
  const values = [server.id, JSON.stringify(server.transport), offer.hash];
  const same = await sql.query(
    `update vitto_mcp_servers set offered_tools = null, offered_hash = null, checked_at = now(), last_error = null
     where id = $1 and transport = $2::jsonb and approved_hash = $3`,
    values,
  );
  if (same.rowCount !== 0) return;
  await sql.query(
    `update vitto_mcp_servers set offered_tools = $4::jsonb, offered_hash = $3, checked_at = now(), last_error = null
     where id = $1 and transport = $2::jsonb and approved_hash is distinct from $3`,
    [...values, JSON.stringify(offer.tools)],
  );
}

export async function noteFailure(
  sql: Sql,
  server: { id: string; transport: McpTransport },
  failure: Failure,
): Promise<void> {
  await sql.query(
    'update vitto_mcp_servers set last_error = $3, checked_at = now() where id = $1 and transport = $2::jsonb',
    [server.id, JSON.stringify(server.transport), JSON.stringify(failure)],
  );
}

/** Approves what was seen. @throws AppError `mcp.offer-changed` when the server offers something else by now. */
export async function approveMcpServer(
  sql: Sql,
  userId: string,
  id: string,
  offeredHash: string,
): Promise<McpServerRecord> {
  const result = await sql.query(
    `update vitto_mcp_servers set
       approved_tools = coalesce(offered_tools, approved_tools), approved_hash = $3,
       offered_tools = null, offered_hash = null, updated_at = now()
     where id = $1 and user_id = $2 and coalesce(offered_hash, approved_hash) = $3 returning ${COLUMNS}`,
    [id, userId, offeredHash],
  );
  if (result.rows.length > 0) return result.rows[0] as McpServerRecord;
  if ((await findMcpServer(sql, userId, id)) === null) throw notFound('mcp-server');
  throw new AppError('mcp.offer-changed', 'What you saw is not what the server offers now.', {
    status: 409,
    hint: 'Look at its tools again and approve what you see then.',
  });
}

export async function deleteMcpServer(sql: Sql, userId: string, id: string): Promise<void> {
  const result = await sql.query('delete from vitto_mcp_servers where id = $1 and user_id = $2', [
    id,
    userId,
  ]);
  if (result.rowCount === 0) throw notFound('mcp-server');
}

function one(rows: unknown[]): McpServerRecord {
  const [row] = rows;
  if (row === undefined) throw notFound('mcp-server');
  return row as McpServerRecord;
}
