import { z } from 'zod';

/** Named secrets of a user. Their values go in and never come out. */

const time = z.iso.datetime({ offset: true });

export const secretName = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_]{0,63}$/, 'letters, digits and _, beginning with a letter, at most 64');

/** How an argument or a setting names a secret: `{{secret:NAME}}`. */
export const SECRET_REFERENCE = /\{\{secret:([A-Za-z][A-Za-z0-9_]{0,63})\}\}/g;

export const secret = z.object({
  name: secretName,
  createdAt: time,
  updatedAt: time,
  lastUsedAt: time.nullable(),
});
export type Secret = z.infer<typeof secret>;

export const setSecret = z.strictObject({ value: z.string().min(1).max(65_536) });
