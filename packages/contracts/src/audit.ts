import { z } from 'zod';
import { pageQuery } from './paging.ts';

/** Who did what, when, from where, to which object. Append-only; each entry is chained to the one before by its hash. */

export const auditEntry = z.object({
  seq: z.number().int(),
  at: z.iso.datetime({ offset: true }),
  actorId: z.uuid().nullable(),
  actorName: z.string().nullable(),
  /** `web`, `cli`, `api`, `mcp`, `openai`, `system`. */
  via: z.string(),
  address: z.string().nullable(),
  /** Such as `secret.set`, `approval.decided`, `sign-in.failed`. */
  action: z.string(),
  objectType: z.string().nullable(),
  objectId: z.string().nullable(),
  /** Small facts of the act, never a secret. */
  detail: z.record(z.string(), z.json()),
  hash: z.string(),
});
export type AuditEntry = z.infer<typeof auditEntry>;

export const auditQuery = pageQuery.extend({
  /** Part of an action, an object or a name. */
  q: z.string().trim().max(200).optional(),
  /** A whole action, or the part before its dot. */
  action: z.string().max(100).optional(),
  from: z.iso.datetime({ offset: true }).optional(),
  to: z.iso.datetime({ offset: true }).optional(),
});

/**
 * Why the chain does not hold. `changed`: an entry is not what was written, or stands elsewhere than it was written.
 * `missing`: an entry between others is gone. `end-missing`: the last ones are gone. `added`: one was put in after the end.
 */
export const auditBreak = z.enum(['changed', 'missing', 'end-missing', 'added']);
export type AuditBreak = z.infer<typeof auditBreak>;

/** Whether the chain holds: `brokenAt` is the first entry that does not fit. */
export const auditVerification = z.object({
  isIntact: z.boolean(),
  /** Entries that were read until the end or the break. */
  entries: z.number().int(),
  brokenAt: z.number().int().nullable(),
  reason: auditBreak.nullable(),
  /** Of the end of the chain: kept elsewhere, it shows later whether the whole chain was written anew. */
  lastHash: z.string().nullable(),
});
export type AuditVerification = z.infer<typeof auditVerification>;
