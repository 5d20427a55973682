import { recordAudit } from '../audit/index.ts';
import {
  createSignInCode,
  ensureLocalCliToken,
  LOCAL_CLI_TOKEN_NAME,
  type Rotation,
} from '../identity/index.ts';
import type { Database, Sql } from '../kernel/database/database.ts';

// What Vitto does to whom may come in, or to what a user has set up, without being asked: by nobody, through `system`.

/** Makes a code for the link that is printed at a start. */
export async function createStartCode(database: Database, userId: string): Promise<string> {
  const code = await createSignInCode(database, userId);
  await recordSystem(database.pool, 'sign-in.code-made', 'sign-in-code', null, { at: 'start' });
  return code;
}

/** Sees to it that the command line of this machine has its token. */
export async function ensureStartToken(database: Database, userId: string, home: string): Promise<void> {
  const made = await ensureLocalCliToken(database, userId, home);
  if (made === null) return;
  await recordSystem(database.pool, 'token.created', 'token', made, {
    at: 'start',
    name: LOCAL_CLI_TOKEN_NAME,
  });
}

/** In the transaction that switches a webhook off: it is not switched off unrecorded. */
export async function recordWebhookDisabled(sql: Sql, webhookId: string, reason: string): Promise<void> {
  await recordSystem(sql, 'webhook.disabled', 'webhook', webhookId, { reason });
}

/** That the master key is another one now. Which one was which is no secret: the ids are hashes. */
export async function recordRotation(database: Database, done: Rotation): Promise<void> {
  const { from, to, values } = done;
  await recordSystem(database.pool, 'vault.rotated', 'vault', null, { from, to, values: String(values) });
}

async function recordSystem(
  sql: Sql,
  action: string,
  objectType: string,
  objectId: string | null,
  detail: Record<string, string>,
): Promise<void> {
  await recordAudit(sql, {
    actorId: null,
    via: 'system',
    address: null,
    action,
    objectType,
    objectId,
    detail,
  });
}
