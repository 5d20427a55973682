import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const REGISTER = '.users';

/**
 * Writes down that machines in this folder may have disks that lie over the images: installations on one machine share
 * the images, and none of them knows the others. To be called before the first machine is made. Idempotent.
 */
export async function registerMachines(images: string, machines: string): Promise<void> {
  const folder = join(images, REGISTER);
  await mkdir(folder, { recursive: true, mode: 0o755 });
  const file = join(folder, createHash('sha256').update(machines).digest('hex').slice(0, 32));
  const draft = `${file}.${crypto.randomUUID()}`;
  await writeFile(draft, machines);
  await rename(draft, file);
}

/**
 * Hashes of the images that any machine's disk lies over, of all installations that share the images.
 * `imageHashOf` is the provider's. @throws what it throws: an image is not removed when it is not known who uses it.
 */
export async function listUsedImages(
  images: string,
  imageHashOf: (machineFolder: string) => Promise<string | null>,
): Promise<ReadonlySet<string>> {
  const used = new Set<string>();
  for (const name of await readFolder(join(images, REGISTER))) {
    const machines = await readFile(join(images, REGISTER, name), 'utf8');
    for (const machine of await readFolder(machines)) {
      const hash = await imageHashOf(join(machines, machine));
      if (hash !== null) used.add(hash);
    }
  }
  return used;
}

/** Names in a folder; none when it is gone. @throws when it is there and cannot be read. */
async function readFolder(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
