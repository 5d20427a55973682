import { z } from 'zod';

/** Keys with which git of a user's machines reaches one repository each. Private halves go in and never come out. */

const id = z.uuid();
const time = z.iso.datetime({ offset: true });
/** `git@host:org/name.git` or `ssh://git@host:port/path`. */
const repository = z.string().trim().min(3).max(1024);
const fingerprint = z.string().regex(/^SHA256:/);

export const deployKey = z.object({
  id,
  repository,
  /** To be added to the repository at its forge, with write access if tasks are to push. */
  publicKey: z.string(),
  hostKeys: z.array(z.object({ type: z.string(), fingerprint })),
  createdAt: time,
  /** When a machine was last given the use of it. */
  lastUsedAt: time.nullable(),
});
export type DeployKey = z.infer<typeof deployKey>;

export const addDeployKey = z.strictObject({
  repository,
  /** OpenSSH or PEM, without a passphrase; absent: a new one is made, of which only the public half leaves. */
  privateKey: z.string().min(1).max(32_768).optional(),
  /** Lines as `ssh-keyscan` prints them, confirmed by a person; may be absent where the forge publishes its own. */
  hostKeys: z.array(z.string().min(1).max(8_192)).min(1).max(16).optional(),
});
export type AddDeployKey = z.infer<typeof addDeployKey>;

export const scanHostKeys = z.strictObject({ repository });
export const scannedHostKeys = z.object({
  host: z.string(),
  hostKeys: z.array(
    z.object({
      /** As `hostKeys` of a new deploy key takes it. */
      line: z.string(),
      type: z.string(),
      fingerprint,
      /** True: the forge publishes this fingerprint. Null: none is known here, so a person must compare. */
      isPublished: z.boolean().nullable(),
    }),
  ),
});
export type ScannedHostKeys = z.infer<typeof scannedHostKeys>;
