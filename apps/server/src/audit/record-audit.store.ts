import type { Sql } from '../kernel/database/database.ts';
import { cutText } from '../kernel/text/cut.ts';
import { maskSecrets } from '../kernel/text/mask-secrets.ts';
import { mapStrings, toStorableText } from '../kernel/text/storable.ts';

/** Longest text in an entry, in UTF-16 units: an entry holds small facts, never what somebody wrote. */
const MAX_TEXT = 200;

/** One act, as whoever does it tells it; number, time and hash are given by the database. */
export interface AuditAct {
  /** `null` where nobody is signed in. */
  actorId: string | null;
  /** Through which door: `web`, `cli`, `api`, `mcp`, `openai`, `system`. */
  via: string;
  address: string | null;
  /** An object and what became of it: `secret.set`. */
  action: string;
  objectType: string | null;
  objectId: string | null;
  detail: Readonly<Record<string, unknown>>;
}

/**
 * Adds an entry to the end of the chain. Inside a transaction it is the last thing done: it holds the end of the
 * chain until the commit. Texts are cut and known secrets masked.
 */
export async function recordAudit(sql: Sql, act: AuditAct): Promise<void> {
  await sql.query('select vitto_audit($1, $2, $3, $4, $5, $6, $7)', [
    act.actorId,
    act.via,
    act.address,
    act.action,
    act.objectType,
    act.objectId === null ? null : toFact(act.objectId),
    JSON.stringify(mapStrings(act.detail, toFact)),
  ]);
}

function toFact(text: string): string {
  return cutText(maskSecrets(toStorableText(text)), MAX_TEXT);
}
