import type { Skill } from '@vitto/contracts';
import type { Database, Sql } from '../../kernel/database/database.ts';
import { inTransaction } from '../../kernel/database/transaction.ts';
import { AppError } from '../../kernel/app-error.ts';
import { newId } from '../../kernel/ids.ts';
import type { SkillFileContent } from './check-skill-files.ts';

/** Skills that a user may have. */
export const MAX_SKILLS = 200;

interface SkillRow extends Omit<Skill, 'createdAt' | 'updatedAt'> {
  createdAt: Date;
  updatedAt: Date;
}
const COLUMNS = `s.name, s.description, s.license, s.is_enabled as "isEnabled", s.created_at as "createdAt", s.updated_at as "updatedAt",
  (octet_length(s.text) + coalesce((select sum(octet_length(f.content)) from vitto_skill_files f where f.skill_id = s.id), 0))::float8 as bytes,
  coalesce((select json_agg(json_build_object('path', f.path, 'bytes', octet_length(f.content)) order by f.path)
    from vitto_skill_files f where f.skill_id = s.id), '[]') as files`;

function toSkill<Row extends SkillRow>({ createdAt, updatedAt, ...row }: Row) {
  return { ...row, createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() };
}

export async function listSkills(sql: Sql, userId: string): Promise<Skill[]> {
  const result = await sql.query(
    `select ${COLUMNS} from vitto_skills s where s.user_id = $1 order by s.name`,
    [userId],
  );
  return (result.rows as SkillRow[]).map(toSkill);
}

/** A skill with the text of its SKILL.md; `null` when the user has none of that name. */
export async function findSkill(
  sql: Sql,
  userId: string,
  name: string,
): Promise<(Skill & { text: string }) | null> {
  const result = await sql.query(
    `select ${COLUMNS}, s.text from vitto_skills s where s.user_id = $1 and s.name = $2`,
    [userId, name],
  );
  const row = result.rows[0] as (SkillRow & { text: string }) | undefined;
  return row === undefined ? null : toSkill(row);
}

export async function readSkillFile(
  sql: Sql,
  userId: string,
  name: string,
  path: string,
): Promise<Buffer | null> {
  const result = await sql.query(
    `select f.content from vitto_skill_files f join vitto_skills s on s.id = f.skill_id
     where s.user_id = $1 and s.name = $2 and f.path = $3`,
    [userId, name, path],
  );
  return (result.rows[0] as { content: Buffer } | undefined)?.content ?? null;
}

/** Names and descriptions of the skills that tasks may use, by name. */
export async function listEnabledSkills(
  sql: Sql,
  userId: string,
): Promise<{ name: string; description: string }[]> {
  const result = await sql.query(
    'select name, description from vitto_skills where user_id = $1 and is_enabled order by name',
    [userId],
  );
  return result.rows as { name: string; description: string }[];
}

/**
 * Puts a whole folder in place of what the skill held before; whether it is switched on stays as it was.
 * @throws AppError `skill.too-many`.
 */
export async function replaceSkill(
  database: Database,
  userId: string,
  skill: Pick<Skill, 'name' | 'description' | 'license'> & { text: string; files: SkillFileContent[] },
): Promise<void> {
  await inTransaction(database, async (client) => {
    const kept = await client.query(
      `insert into vitto_skills (id, user_id, name, description, license, text) values ($1, $2, $3, $4, $5, $6)
       on conflict (user_id, name) do update set
         description = excluded.description, license = excluded.license, text = excluded.text, updated_at = clock_timestamp()
       returning id`,
      [newId(), userId, skill.name, skill.description, skill.license, skill.text],
    );
    const { id } = kept.rows[0] as { id: string };
    const count = await client.query('select count(*)::int as count from vitto_skills where user_id = $1', [
      userId,
    ]);
    if ((count.rows[0] as { count: number }).count > MAX_SKILLS) throw tooMany();
    await client.query('delete from vitto_skill_files where skill_id = $1', [id]);
    for (const { path, content } of skill.files) {
      await client.query('insert into vitto_skill_files (skill_id, path, content) values ($1, $2, $3)', [
        id,
        path,
        content,
      ]);
    }
  });
}

export async function enableSkill(
  sql: Sql,
  userId: string,
  name: string,
  isEnabled: boolean,
): Promise<boolean> {
  const result = await sql.query(
    'update vitto_skills set is_enabled = $3, updated_at = clock_timestamp() where user_id = $1 and name = $2',
    [userId, name, isEnabled],
  );
  return result.rowCount === 1;
}

export async function deleteSkill(sql: Sql, userId: string, name: string): Promise<boolean> {
  const result = await sql.query('delete from vitto_skills where user_id = $1 and name = $2', [userId, name]);
  return result.rowCount === 1;
}

function tooMany(): AppError {
  return new AppError('skill.too-many', `You have ${MAX_SKILLS} skills, and there is room for no more.`, {
    status: 409,
    hint: 'Delete one that you do not use.',
  });
}
