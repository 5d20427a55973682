import type { PutSkill, Skill, SkillWithText } from '@vitto/contracts';
import { notFound } from '../../kernel/app-error.ts';
import type { Database } from '../../kernel/database/database.ts';
import { checkSkillFiles } from './check-skill-files.ts';
import { invalid, readSkill } from './read-skill.ts';
import {
  deleteSkill,
  enableSkill,
  findSkill,
  listEnabledSkills,
  listSkills,
  readSkillFile,
  replaceSkill,
} from './skill.store.ts';

/** The skills of users: what people put in, look at and take out. */
export class Skills {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  list(userId: string): Promise<Skill[]> {
    return listSkills(this.#database.pool, userId);
  }

  /** Names and descriptions of those that tasks may use. */
  listEnabled(userId: string): Promise<{ name: string; description: string }[]> {
    return listEnabledSkills(this.#database.pool, userId);
  }

  /** @throws AppError `skill.not-found`. */
  async find(userId: string, name: string): Promise<SkillWithText> {
    const found = await findSkill(this.#database.pool, userId, name);
    if (found === null) throw notFound('skill');
    const { compatibility, allowedTools } = readSkill(found.text);
    return { ...found, compatibility, allowedTools };
  }

  /** @throws AppError `skill.not-found`, `skill-file.not-found`. */
  async readFile(userId: string, name: string, path: string): Promise<Buffer> {
    const content = await readSkillFile(this.#database.pool, userId, name, path);
    if (content === null) throw notFound('skill-file');
    return content;
  }

  /**
   * Puts a whole folder in place of what the skill held before.
   * @throws AppError `skill.invalid`, `skill.too-many`.
   */
  async put(userId: string, name: string, folder: PutSkill): Promise<SkillWithText> {
    const read = readSkill(folder.text);
    if (read.name !== name) {
      const message = `SKILL.md names the skill ${read.name}, the address ${JSON.stringify(name)}: they must be the same`;
      throw invalid([{ path: 'name', message }]);
    }
    const { description, license } = read;
    const files = checkSkillFiles(folder.files);
    await replaceSkill(this.#database, userId, { name, description, license, text: folder.text, files });
    return this.find(userId, name);
  }

  async enable(userId: string, name: string, isEnabled: boolean): Promise<SkillWithText> {
    if (!(await enableSkill(this.#database.pool, userId, name, isEnabled))) throw notFound('skill');
    return this.find(userId, name);
  }

  async remove(userId: string, name: string): Promise<void> {
    if (!(await deleteSkill(this.#database.pool, userId, name))) throw notFound('skill');
  }
}
