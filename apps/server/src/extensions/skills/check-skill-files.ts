import { SKILL_FILE_MAX_BYTES, SKILL_MAX_BYTES, type PutSkill } from '@vitto/contracts';
import { stripInvisible } from '../../engine/index.ts';
import { invalid } from './read-skill.ts';

export interface SkillFileContent {
  path: string;
  content: Buffer;
}

/**
 * The files of a skill's folder with their bytes, in the order of their paths.
 * @throws AppError `skill.invalid` for paths that leave the folder or fit no file system, and for what is too large.
 */
export function checkSkillFiles(files: PutSkill['files']): SkillFileContent[] {
  const errors: { path: string; message: string }[] = [];
  const paths = new Set<string>();
  const found = files.map(({ path, content }, index) => {
    const fault = findFault(path) ?? (paths.has(path) ? 'is there twice' : null);
    const bytes = Buffer.from(content, 'base64');
    if (fault !== null)
      errors.push({ path: `files.${index}.path`, message: `${JSON.stringify(path)} ${fault}` });
    if (bytes.length > SKILL_FILE_MAX_BYTES) {
      errors.push({ path: `files.${index}.content`, message: `larger than ${SKILL_FILE_MAX_BYTES} bytes` });
    }
    paths.add(path);
    return { path, content: bytes };
  });
  for (const [index, { path }] of found.entries()) {
    const folder = foldersOf(path).find((name) => paths.has(name));
    if (folder === undefined) continue;
    errors.push({ path: `files.${index}.path`, message: `${JSON.stringify(folder)} is a file and a folder` });
  }
  const bytes = found.reduce((sum, file) => sum + file.content.length, 0);
  if (bytes > SKILL_MAX_BYTES)
    errors.push({ path: 'files', message: `more than ${SKILL_MAX_BYTES} bytes in all` });
  if (errors.length > 0) throw invalid(errors);
  return found.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Why a path cannot be one inside of a skill's folder; `null` when it can. */
function findFault(path: string): string | null {
  if (path.startsWith('/') || /^[a-z]:/iu.test(path)) return 'is not relative to the folder';
  if (/[\\\p{Cc}]/u.test(path)) return 'holds a backslash or a control character';
  if (stripInvisible(path).removed > 0) return 'holds characters that do not show';
  const parts = path.split('/');
  if (parts.some((part) => part === '' || part === '.' || part === '..')) return 'has an empty part, . or ..';
  if (parts.some((part) => Buffer.byteLength(part) > 255)) return 'has a part of more than 255 bytes';
  if (path.toUpperCase() === 'SKILL.MD') return 'is the text of the skill, which stands in `text`';
  return null;
}

function foldersOf(path: string): string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}
