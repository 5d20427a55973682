import { readFile, readdir, realpath, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { CliError, EXIT } from './cli-error.ts';

/** What no skill is made of, and systems leave lying about. */
const LEFT_OUT = new Set(['.git', '.DS_Store', 'node_modules', '__pycache__']);

export interface FolderLimits {
  files: number;
  /** Of one file, and of all of them. */
  fileBytes: number;
  bytes: number;
}

/**
 * All files of a folder with their paths in it, in the order of the paths. Links are followed as long as they stay in
 * the folder.
 * @throws CliError for what is no folder, for links that lead out of it, and for what is too large.
 */
export async function readFolder(
  folder: string,
  limits: FolderLimits,
): Promise<{ path: string; content: Buffer }[]> {
  const root = await openFolder(folder);
  const found: { path: string; content: Buffer }[] = [];
  let bytes = 0;
  const walk = async (place: string, ancestors: ReadonlySet<string>): Promise<void> => {
    for (const name of (await readdir(place)).sort()) {
      if (LEFT_OUT.has(name)) continue;
      const path = join(place, name);
      const target = await resolveInside(root, path);
      const about = await stat(target);
      if (about.isDirectory()) {
        // A link to a folder above would never end.
        if (ancestors.has(target)) throw bad(`${path} is a link to a folder that it lies in.`);
        await walk(path, new Set([...ancestors, target]));
        continue;
      }
      if (!about.isFile()) throw bad(`${path} is neither a file nor a folder.`);
      bytes += about.size;
      if (found.length === limits.files) throw bad(`${folder} holds more than ${limits.files} files.`);
      if (about.size > limits.fileBytes) throw bad(`${path} is larger than ${limits.fileBytes} bytes.`);
      if (bytes > limits.bytes) throw bad(`${folder} is larger than ${limits.bytes} bytes.`);
      found.push({ path: relative(root, path).split(sep).join('/'), content: await readFile(target) });
    }
  };
  await walk(root, new Set([root]));
  return found;
}

async function openFolder(folder: string): Promise<string> {
  try {
    const root = await realpath(folder);
    if ((await stat(root)).isDirectory()) return root;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unreadable';
    throw bad(`${folder} cannot be read (${code}).`);
  }
  throw bad(`${folder} is no folder.`);
}

async function resolveInside(root: string, path: string): Promise<string> {
  const target = await realpath(path).catch(() => null);
  if (target === null) throw bad(`${path} is a link to nothing.`);
  if (target !== root && !target.startsWith(root + sep))
    throw bad(`${path} is a link that leads out of the folder.`);
  return target;
}

function bad(message: string): CliError {
  return new CliError(
    EXIT.usage,
    'cli.bad-folder',
    message,
    'Name a folder that holds a SKILL.md and its own files only.',
  );
}
