import { maskSecrets } from '../../kernel/text/mask-secrets.ts';
import { cutText } from '../../kernel/text/cut.ts';
import { stripInvisible } from '../tools/web/strip-invisible.ts';

/** A skill as the system prompt lists it. */
export interface SkillLine {
  name: string;
  description: string;
}

/** Skills that are listed, and characters of the whole list. */
const MAX_LISTED = 50;
const MAX_LENGTH = 8_000;

/** The skills of a user for the system prompt: what each is for, so that the model knows when to read one. */
export function describeSkills(skills: readonly SkillLine[]): string {
  const lines: string[] = [];
  let length = 0;
  for (const { name, description } of skills.slice(0, MAX_LISTED)) {
    const line = `- ${name}: ${toLine(description)}`;
    if (length + line.length > MAX_LENGTH) break;
    length += line.length + 1;
    lines.push(line);
  }
  const left = skills.length - lines.length;
  return [
    'Skills of the user. Read one with `use_skill` before you do what it is for; its instructions are the way the user wants it done:',
    ...lines,
    ...(left === 0 ? [] : [`(${left} more are not listed.)`]),
  ].join('\n');
}

/** On one line, without secrets, and nothing in it that a person who looked at it has not seen. */
function toLine(description: string): string {
  const seen = maskSecrets(stripInvisible(description).text);
  return cutText(seen.replaceAll(/\s+/gu, ' ').trim(), 1_024);
}
