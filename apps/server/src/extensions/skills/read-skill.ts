import { skillName } from '@vitto/contracts';
import { LineCounter, parseDocument, type Document } from 'yaml';
import { z } from 'zod';
import { AppError } from '../../kernel/app-error.ts';

/** What the front matter of a SKILL.md says (the open Agent Skills format), and the instructions below it. */
export interface SkillText {
  name: string;
  description: string;
  license: string | null;
  compatibility: string | null;
  /** Tools that the skill would like to use without asking. Shown to people; it allows nothing. */
  allowedTools: string[];
  body: string;
}

/** Characters of the front matter; descriptions are at most 1,024 of them. */
const FRONT_MATTER_MAX_LENGTH = 16_000;
const FRONT_MATTER = /^\uFEFF?---[ \t]*\r?\n(?<yaml>[\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)(?<body>[\s\S]*)$/;

const text = (max: number) =>
  z.string('a text').trim().min(1, 'not empty').max(max, `at most ${max} characters`);
const frontMatter = z.looseObject({
  name: z.string('a name is missing').pipe(skillName),
  description: z.string('a description is missing').pipe(text(1_024)),
  license: text(500).optional(),
  compatibility: text(500).optional(),
  metadata: z.looseObject({}, 'a list of names with their values').optional(),
  'allowed-tools': z.union([text(2_000), z.array(text(200))], 'names with spaces between them').optional(),
});

/**
 * Reads a SKILL.md.
 * @throws AppError `skill.invalid` that names the line or the field of each fault.
 */
export function readSkill(source: string): SkillText {
  const { yaml, body } = FRONT_MATTER.exec(source)?.groups ?? {};
  if (yaml === undefined || body === undefined) {
    throw invalid([
      { path: 'SKILL.md:1', message: 'begins with no front matter: a line ---, fields, a line ---' },
    ]);
  }
  if (yaml.length > FRONT_MATTER_MAX_LENGTH) {
    throw invalid([
      { path: 'SKILL.md:1', message: `front matter longer than ${FRONT_MATTER_MAX_LENGTH} characters` },
    ]);
  }
  const lines = new LineCounter();
  // Every value is read as text: no dates, no numbers, no types of YAML's own.
  const document = parseDocument(yaml, {
    schema: 'failsafe',
    lineCounter: lines,
    prettyErrors: false,
    logLevel: 'error',
  });
  const broken = document.errors.map(({ pos, message }) => ({
    path: lineAt(lines, pos[0]),
    message: explain(message),
  }));
  if (broken.length > 0) throw invalid(broken.slice(0, 5));
  const parsed = frontMatter.safeParse(withoutNulls(toPlain(document)));
  if (!parsed.success) {
    throw invalid(
      parsed.error.issues.map(({ path, message }) => ({
        path: `${String(path[0] ?? 'SKILL.md')}${lineOf(document, lines, String(path[0]))}`,
        message,
      })),
    );
  }
  const { name, description, license, compatibility, 'allowed-tools': tools } = parsed.data;
  const allowedTools =
    typeof tools === 'string' ? tools.split(/[\s,]+/u).filter((tool) => tool !== '') : (tools ?? []);
  return {
    name,
    description,
    license: license ?? null,
    compatibility: compatibility ?? null,
    allowedTools,
    body,
  };
}

function toPlain(document: Document.Parsed): unknown {
  try {
    // No aliases: one line of them can stand for millions.
    return document.toJS({ maxAliasCount: 0 });
  } catch {
    throw invalid([{ path: 'SKILL.md', message: 'aliases (*name) are not taken' }]);
  }
}

/** A field without a value counts as one that is not there. */
function withoutNulls(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return {};
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== null && item !== ''));
}

function explain(message: string): string {
  const line = message.split('\n', 1)[0] ?? '';
  return /nested mappings/i.test(line) ? `${line}. Put a text with ": " in it into quotes` : line;
}

/** The front matter's own first line is the second of the file. */
function lineAt(lines: LineCounter, offset: number): string {
  return `SKILL.md:${lines.linePos(offset).line + 1}`;
}

function lineOf(document: Document.Parsed, lines: LineCounter, field: string): string {
  const node = document.get(field, true) as { range?: [number, number, number] } | undefined;
  return node?.range === undefined ? '' : ` (${lineAt(lines, node.range[0])})`;
}

export function invalid(errors: { path: string; message: string }[]): AppError {
  const first = errors[0];
  const more = first === undefined ? '' : ` ${first.path}: ${first.message}.`;
  return new AppError('skill.invalid', `This is not a skill that can be used.${more}`, {
    status: 422,
    hint: 'Mend what `errors` names. The format is described at https://agentskills.io/specification.',
    errors,
  });
}
