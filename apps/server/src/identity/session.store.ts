import type { PoolClient } from 'pg';
import type { Database } from '../kernel/database/database.ts';
import type { User } from './owner.store.ts';
import { hashSecret, newSecret } from './secret-token.ts';

/** A session ends after this many days without a request. */
export const SESSION_DAYS = 30;
/** A session's end is moved at most this often: not each request writes. */
const SLIDE_EVERY_MINUTES = 60;

export interface NewSession {
  /** The cookie's value; only its hash is stored. */
  secret: string;
  csrfToken: string;
  userId: string;
}

export interface Session {
  user: User;
  csrfToken: string;
  /** True when its end has just been moved: the browser's cookie is to be renewed too. */
  isRenewed: boolean;
}

/** Begins a session, in the caller's transaction. */
export async function insertSession(client: PoolClient, userId: string): Promise<NewSession> {
  const session = { secret: newSecret(), csrfToken: newSecret(), userId };
  await client.query('delete from vitto_sessions where expires_at < now()');
  await client.query(
    `insert into vitto_sessions (token_hash, user_id, csrf_token, expires_at)
     values ($1, $2, $3, now() + make_interval(days => $4))`,
    [hashSecret(session.secret), userId, session.csrfToken, SESSION_DAYS],
  );
  return session;
}

/** The session of a cookie's value, its end moved on; `null` when there is none or it is over. */
export async function findSession(database: Database, secret: string): Promise<Session | null> {
  const hash = hashSecret(secret);
  const result = await database.pool.query<User & { csrfToken: string; isDue: boolean }>(
    `select u.id, u.name, u.role, s.csrf_token as "csrfToken",
       s.last_seen_at < now() - make_interval(mins => $2) as "isDue"
     from vitto_sessions s join vitto_users u on u.id = s.user_id
     where s.token_hash = $1 and s.expires_at > now()`,
    [hash, SLIDE_EVERY_MINUTES],
  );
  const row = result.rows[0];
  if (row === undefined) return null;
  if (row.isDue) {
    await database.pool.query(
      `update vitto_sessions set last_seen_at = now(), expires_at = now() + make_interval(days => $2)
       where token_hash = $1`,
      [hash, SESSION_DAYS],
    );
  }
  return {
    user: { id: row.id, name: row.name, role: row.role },
    csrfToken: row.csrfToken,
    isRenewed: row.isDue,
  };
}

/** Ends the session of a cookie's value. */
export async function endSession(database: Database, secret: string): Promise<void> {
  await database.pool.query('delete from vitto_sessions where token_hash = $1', [hashSecret(secret)]);
}
