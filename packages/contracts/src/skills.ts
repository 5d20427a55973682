import { z } from 'zod';

/** Skills: folders with a SKILL.md in the open Agent Skills format. */

const time = z.iso.datetime({ offset: true });

export const skillName = z
  .string()
  .regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/, 'small letters, digits and single hyphens')
  .max(64);

export const skillFile = z.object({ path: z.string(), bytes: z.number().int() });

export const skill = z.object({
  name: skillName,
  description: z.string(),
  license: z.string().nullable(),
  isEnabled: z.boolean(),
  /** All files of the folder but SKILL.md. */
  files: z.array(skillFile),
  bytes: z.number().int(),
  createdAt: time,
  updatedAt: time,
});
export type Skill = z.infer<typeof skill>;
export const skillList = z.object({ items: z.array(skill) });
/** With the whole text of its SKILL.md. */
export const skillWithText = skill.extend({
  text: z.string(),
  compatibility: z.string().nullable(),
  /** Tools that the skill would like to use without asking. Shown to people; it allows nothing. */
  allowedTools: z.array(z.string()),
});
export type SkillWithText = z.infer<typeof skillWithText>;

/** Bytes of one file of a skill's folder, and of all of them. */
export const SKILL_FILE_MAX_BYTES = 512 * 1024;
export const SKILL_MAX_BYTES = 4 * 1024 * 1024;

/** The whole folder: what it held before is replaced. The name stands in the front matter of SKILL.md. */
export const putSkill = z.strictObject({
  /** Text of SKILL.md, front matter and all. */
  text: z.string().min(1).max(200_000),
  files: z
    .array(
      z.strictObject({
        /** Relative, with `/`, inside of the folder. */
        path: z
          .string()
          .min(1)
          .max(400)
          .regex(/^[^\\\p{Cc}]*$/u, 'a path holds no backslash and no control characters'),
        /** Base64. */
        content: z.base64().max(700_000),
      }),
    )
    .max(100)
    .default([]),
});
export type PutSkill = z.infer<typeof putSkill>;
export const updateSkill = z.strictObject({ isEnabled: z.boolean() });
