import type { PoolClient } from 'pg';
import type { Database } from '../kernel/database/database.ts';
import { AppError } from '../kernel/app-error.ts';
import { inTransaction } from '../kernel/database/transaction.ts';
import { hashSecret, newSecret } from './secret-token.ts';
import { insertSession, type NewSession } from './session.store.ts';

/** How long a sign-in code can be used, in minutes. */
export const SIGN_IN_CODE_MINUTES = 15;

/** A new one-time code for a user. Only its hash is stored: it is shown here or never. */
export async function createSignInCode(database: Database, userId: string): Promise<string> {
  const code = newSecret();
  await database.pool.query('delete from vitto_sign_in_codes where expires_at < now()');
  await database.pool.query(
    `insert into vitto_sign_in_codes (code_hash, user_id, expires_at)
     values ($1, $2, now() + make_interval(mins => $3))`,
    [hashSecret(code), userId, SIGN_IN_CODE_MINUTES],
  );
  return code;
}

/** Whether somebody has signed in with a code. */
export async function isSignInCodeUsed(database: Database, code: string): Promise<boolean> {
  const result = await database.pool.query(
    'select 1 from vitto_sign_in_codes where code_hash = $1 and used_at is not null',
    [hashSecret(code)],
  );
  return result.rowCount === 1;
}

/**
 * Uses a code up and begins a session, both or neither: of two requests with one code, one gets a session.
 * @throws AppError `sign-in.code-invalid` (401) when the code is unknown, used or too old: the three are not told apart.
 */
export async function redeemSignInCode(database: Database, code: string): Promise<NewSession> {
  return inTransaction(database, async (client) => {
    const userId = await useCode(client, code);
    if (userId === null) {
      throw new AppError('sign-in.code-invalid', 'This sign-in link has been used already or has expired.', {
        status: 401,
        hint: 'Ask for a new link on the machine where Vitto runs: `npm run vitto -- sign-in` prints one.',
      });
    }
    return insertSession(client, userId);
  });
}

async function useCode(client: PoolClient, code: string): Promise<string | null> {
  const result = await client.query<{ userId: string }>(
    `update vitto_sign_in_codes set used_at = now()
     where code_hash = $1 and used_at is null and expires_at > now() returning user_id as "userId"`,
    [hashSecret(code)],
  );
  return result.rows[0]?.userId ?? null;
}
