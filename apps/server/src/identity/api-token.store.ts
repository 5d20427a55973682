import type { z } from 'zod';
import { TOKEN_SCOPES, type apiToken, type createdApiToken, type TokenScope } from '@vitto/contracts';
import type { Database } from '../kernel/database/database.ts';
import { notFound } from '../kernel/app-error.ts';
import { newId } from '../kernel/ids.ts';
import type { User } from './owner.store.ts';
import { hashSecret, newSecret } from './secret-token.ts';

export type ApiToken = z.infer<typeof apiToken>;
export type CreatedApiToken = z.infer<typeof createdApiToken>;

/** Programs and people tell a token by this beginning; logs mask what begins with it. */
const PREFIX = 'vitto_';

interface TokenRow {
  id: string;
  name: string;
  scopes: TokenScope[];
  createdAt: Date;
  lastUsedAt: Date | null;
  expiresAt: Date | null;
}
const COLUMNS = `id, name, scopes, created_at as "createdAt", last_used_at as "lastUsedAt", expires_at as "expiresAt"`;

function toApiToken(row: TokenRow): ApiToken {
  return {
    id: row.id,
    name: row.name,
    scopes: row.scopes,
    createdAt: row.createdAt.toISOString(),
    lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
    expiresAt: row.expiresAt?.toISOString() ?? null,
  };
}

/** Makes a personal token. Only its hash is stored: `token` is in this answer or nowhere. */
export async function createApiToken(
  database: Pick<Database, 'pool'> | { pool: Pick<Database['pool'], 'query'> },
  userId: string,
  request: {
    name: string;
    /** All of them when absent. */
    scopes?: readonly TokenScope[] | undefined;
    expiresInDays?: number | undefined;
  },
): Promise<CreatedApiToken> {
  const token = `${PREFIX}${newSecret()}`;
  const result = await database.pool.query(
    `insert into vitto_api_tokens (id, user_id, name, token_hash, scopes, expires_at)
     values ($1, $2, $3, $4, $5, now() + make_interval(days => $6)) returning ${COLUMNS}`,
    [
      newId(),
      userId,
      request.name,
      hashSecret(token),
      JSON.stringify(TOKEN_SCOPES.filter((scope) => (request.scopes ?? TOKEN_SCOPES).includes(scope))),
      request.expiresInDays ?? null,
    ],
  );
  return { ...toApiToken(result.rows[0] as TokenRow), token };
}

export async function listApiTokens(database: Database, userId: string): Promise<ApiToken[]> {
  const result = await database.pool.query<TokenRow>(
    `select ${COLUMNS} from vitto_api_tokens where user_id = $1 order by created_at desc, id desc limit 500`,
    [userId],
  );
  return result.rows.map(toApiToken);
}

/** @throws AppError `token.not-found`. */
export async function deleteApiToken(database: Database, userId: string, id: string): Promise<void> {
  const result = await database.pool.query('delete from vitto_api_tokens where id = $1 and user_id = $2', [
    id,
    userId,
  ]);
  if (result.rowCount === 0) throw notFound('token');
}

/** The user of a token and the token's id; `null` when it is unknown or over. Notes its use, once a minute. */
export async function findApiToken(
  database: Database,
  token: string,
): Promise<{ user: User; tokenId: string; name: string; scopes: TokenScope[] } | null> {
  if (!token.startsWith(PREFIX)) return null;
  const result = await database.pool.query<
    User & { tokenId: string; tokenName: string; scopes: TokenScope[]; isDue: boolean }
  >(
    `select u.id, u.name, u.role, t.id as "tokenId", t.name as "tokenName", t.scopes,
       coalesce(t.last_used_at < now() - interval '1 minute', true) as "isDue"
     from vitto_api_tokens t join vitto_users u on u.id = t.user_id
     where t.token_hash = $1 and (t.expires_at is null or t.expires_at > now())`,
    [hashSecret(token)],
  );
  const row = result.rows[0];
  if (row === undefined) return null;
  if (row.isDue) {
    await database.pool.query('update vitto_api_tokens set last_used_at = now() where id = $1', [
      row.tokenId,
    ]);
  }
  return {
    user: { id: row.id, name: row.name, role: row.role },
    tokenId: row.tokenId,
    name: row.tokenName,
    scopes: row.scopes,
  };
}
