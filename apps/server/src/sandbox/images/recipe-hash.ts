import { createHash, type Hash } from 'node:crypto';
import { lstat, readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';

/** Counted up when the same recipe gives another image: when this folder's code changes what it makes. */
export const BUILDER_VERSION = 2;

/** What goes into an image beside its recipe; folders of `images/`. */
const COMMON = ['build', 'guest', 'root'];

/**
 * What an image is made from, as one SHA-256 in hex: its recipe and files, the guest's sources, the builder and the
 * architecture. The same hash means the same image, but for newer packages of the same suite.
 */
export async function hashRecipe(
  name: string,
  options: { recipes: string; architecture: string },
): Promise<string> {
  const hash = createHash('sha256');
  addPart(hash, 'builder', Buffer.from(`${BUILDER_VERSION} ${options.architecture}`));
  for (const folder of [name, ...COMMON]) await addFolder(hash, options.recipes, folder);
  return hash.digest('hex');
}

async function addFolder(hash: Hash, root: string, path: string): Promise<void> {
  const names = await readdir(join(root, path)).catch(() => []);
  for (const name of names.sort()) {
    const at = `${path}/${name}`;
    const found = await lstat(join(root, at));
    if (found.isDirectory()) await addFolder(hash, root, at);
    else if (found.isSymbolicLink()) addPart(hash, `link ${at}`, Buffer.from(await readlink(join(root, at))));
    else if (found.isFile() && isSource(name)) {
      const mode = (found.mode & 0o100) === 0 ? 'file' : 'program';
      addPart(hash, `${mode} ${at}`, await readFile(join(root, at)));
    }
  }
}

/** Texts for people and tests change nothing in an image. */
function isSource(name: string): boolean {
  return !/\.(md|o|swp)$|~$|(_test\.c|\.test\.ts|-test\.c)$/.test(name);
}

/** Lengths first, so that no two lists of parts read alike. */
function addPart(hash: Hash, name: string, content: Buffer): void {
  hash
    .update(`${Buffer.byteLength(name)} ${content.length}\n`)
    .update(name)
    .update(content);
}
