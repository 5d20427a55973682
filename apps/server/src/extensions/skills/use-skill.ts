import { z } from 'zod';
import {
  defineTool,
  stripInvisible,
  type Tool,
  type ToolContext,
  type ToolResult,
} from '../../engine/index.ts';
import type { Sql } from '../../kernel/database/database.ts';
import { readSkill } from './read-skill.ts';
import { findSkill, listEnabledSkills, readSkillFile } from './skill.store.ts';

/**
 * `use_skill`: gives the instructions of a skill, or a file of its folder. What it gives was put there by the user, so
 * it is not text from outside.
 */
export function createUseSkill(sql: Sql): Tool {
  return defineTool({
    name: 'use_skill',
    description:
      "Read the instructions of one of the user's skills before you do what it is for, and the files of its folder when they tell you to. A script of a skill is run by writing it into your home first.",
    input: z.object({
      name: z.string().min(1).max(64).describe('The name of the skill, as it is listed.'),
      file: z
        .string()
        .min(1)
        .max(400)
        .optional()
        .describe('A file of its folder, as SKILL.md or the list of files names it.'),
    }),
    domain: 'knowledge',
    risk: 'read',
    tier: 'in-process',
    idempotency: 'pure',
    timeoutMs: 10_000,
    run: async ({ name, file }, context) => {
      const skill = await findSkill(sql, context.task.userId, name);
      if (skill === null || !skill.isEnabled) return noSkill(sql, context, name);
      if (file !== undefined && file.toUpperCase() !== 'SKILL.MD') {
        const path = file.replace(/^(?:\.\/)+/u, '');
        const content = await readSkillFile(sql, context.task.userId, name, path);
        return content === null ? noFile(skill, file) : showFile(context, path, content);
      }
      const { body } = readSkill(skill.text);
      const files = skill.files.map(({ path, bytes }) => `- ${path} (${bytes} bytes)`).join('\n');
      const more = files === '' ? '' : `\n\n[Files of this skill, for use_skill with \`file\`:\n${files}]`;
      return {
        status: 'ok',
        text: `${stripInvisible(body).text.trim()}${more}`,
        data: { name, files: skill.files.length },
      };
    },
  });
}

async function noSkill(sql: Sql, context: ToolContext, name: string): Promise<ToolResult> {
  const names = (await listEnabledSkills(sql, context.task.userId)).map((skill) => skill.name);
  const known = names.length === 0 ? 'There are none now.' : `There are: ${names.join(', ')}.`;
  return { status: 'error', text: `There is no skill ${JSON.stringify(name)}. ${known}` };
}

function noFile({ name, files }: { name: string; files: { path: string }[] }, file: string): ToolResult {
  const known =
    files.length === 0
      ? 'It has no files but SKILL.md.'
      : `It has: ${files.map((one) => one.path).join(', ')}.`;
  return { status: 'error', text: `The skill ${name} has no file ${JSON.stringify(file)}. ${known}` };
}

async function showFile(context: ToolContext, path: string, content: Buffer): Promise<ToolResult> {
  const text = toText(content);
  if (text !== null) return { status: 'ok', text: toShown(text), data: { path, bytes: content.length } };
  const kept = await context.artifacts.save(
    path.split('/').at(-1) ?? path,
    'application/octet-stream',
    content,
  );
  return {
    status: 'ok',
    text: `${path} is no text (${content.length} bytes). It is kept as artifact ${kept.id}.`,
    artifacts: [kept],
    data: { path, bytes: content.length },
  };
}

/** Nothing in it that the person who put it there could not see. */
function toShown(content: string): string {
  const { text, removed } = stripInvisible(content);
  return removed === 0 ? content : `${text}\n\n[${removed} invisible characters were taken out]`;
}

function toText(content: Buffer): string | null {
  if (content.includes(0)) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content);
  } catch {
    return null;
  }
}
