import { SKILL_FILE_MAX_BYTES, SKILL_MAX_BYTES } from '@vitto/contracts';
import type { Command } from 'commander';
import { CliError, EXIT } from '../cli-error.ts';
import { commandLine } from '../command-line.ts';
import { createContext, type Context } from '../context.ts';
import { readFolder } from '../read-folder.ts';
import { formatTable } from '../text/format.ts';
import { toPlainLine } from '../text/terminal-text.ts';

/** SKILL.md and its files. */
const LIMITS = { files: 101, fileBytes: SKILL_FILE_MAX_BYTES, bytes: SKILL_MAX_BYTES };

export function addSkills(program: Command): void {
  const skills = program.command('skills').description('My skills: folders with a SKILL.md that tasks read');
  skills
    .command('ls', { isDefault: true })
    .description('List my skills')
    .action((_options: object, command: Command) => listSkills(createContext(command)));
  skills
    .command('add')
    .description('Add the skill in a folder, or put the folder in place of what the skill held before')
    .argument('<folder>', 'the folder that holds its SKILL.md')
    .action((folder: string, _options: object, command: Command) => addSkill(createContext(command), folder));
  skills
    .command('rm')
    .description('Delete a skill')
    .argument('<name>', 'its name, as ls lists it')
    .action((name: string, _options: object, command: Command) => removeSkill(createContext(command), name));
}

async function listSkills({ api, output }: Context): Promise<void> {
  const { items } = await api.listSkills();
  if (output.json) return output.document({ items });
  if (items.length === 0)
    return output.notice(`No skills. Add one with: ${commandLine('skills add FOLDER')}`);
  const rows = items.map((skill) => [
    skill.name,
    skill.isEnabled ? 'on' : 'off',
    toPlainLine(skill.description),
  ]);
  for (const row of formatTable(rows)) output.line(row);
}

async function addSkill({ api, output }: Context, folder: string): Promise<void> {
  const all = await readFolder(folder, LIMITS);
  const main = all.find(({ path }) => path === 'SKILL.md');
  if (main === undefined) {
    throw new CliError(
      EXIT.usage,
      'cli.no-skill',
      `There is no SKILL.md in ${folder}.`,
      'Name the folder of a skill.',
    );
  }
  const text = decode(main.content);
  const files = all
    .filter((file) => file !== main)
    .map(({ path, content }) => ({ path, content: content.toString('base64') }));
  const skill = await api.putSkill(findName(text) ?? 'unnamed', { text, files });
  if (output.json) return output.document(skill);
  const count =
    skill.files.length === 0
      ? ''
      : ` with ${skill.files.length} ${skill.files.length === 1 ? 'file' : 'files'}`;
  output.notice(`Added ${skill.name}${count}. Tasks that begin from now on know of it.`);
}

async function removeSkill({ api, output }: Context, name: string): Promise<void> {
  await api.removeSkill(name);
  if (output.json) return output.document({ name, removed: true });
  output.notice(`Deleted ${name}.`);
}

/** The name in the front matter, for the address; whether it is a good one, and all else, is the server's to judge. */
function findName(text: string): string | undefined {
  const front = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---/.exec(text)?.[1] ?? '';
  return /^name:[ \t]*["']?([\w.-]+)/mu.exec(front)?.[1];
}

function decode(content: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content);
  } catch {
    throw new CliError(EXIT.usage, 'cli.not-text', 'SKILL.md is not UTF-8 text.', 'Save it as UTF-8.');
  }
}
