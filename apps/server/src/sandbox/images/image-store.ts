import { lstat, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { VmImage } from '../providers/sandbox-provider.ts';
import { GUEST_PROTOCOL, readManifest, recipeHash, type ImageManifest } from './image-manifest.ts';

/** Beginning of the names of folders in which an image is being made. */
const UNFINISHED = '.making-';

export interface StoredImage extends VmImage {
  manifest: ImageManifest;
}

/** Images on this machine: `<folder>/<name>/<hash>/`. A folder with such a name is whole, or has no manifest. */
export class ImageStore {
  readonly folder: string;
  constructor(folder: string) {
    this.folder = folder;
  }

  /** Whole images of a name that this program can talk to, the newest first. */
  async list(name: string): Promise<StoredImage[]> {
    const hashes = await readdir(join(this.folder, name)).catch(() => []);
    const found: StoredImage[] = [];
    for (const hash of hashes) {
      if (!recipeHash.safeParse(hash).success) continue;
      const folder = join(this.folder, name, hash);
      const manifest = await readManifest(folder);
      if (manifest?.hash !== hash || manifest.name !== name) continue;
      if (manifest.guestProtocol === GUEST_PROTOCOL && manifest.architecture === process.arch) {
        found.push({ name, hash, folder, manifest });
      }
    }
    return found.sort((a, b) => b.manifest.builtAt.localeCompare(a.manifest.builtAt));
  }

  /** Names of which there is anything here. */
  async names(): Promise<string[]> {
    const entries = await readdir(this.folder, { withFileTypes: true }).catch(() => []);
    return entries
      .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
      .map(({ name }) => name);
  }

  lockFile(name: string): string {
    return join(this.folder, name, '.lock');
  }

  /** A new folder beside the images of a name, in which one is made. Readable by all: VMs run as users of their own. */
  async makeWorkFolder(name: string): Promise<string> {
    const folder = join(this.folder, name, `${UNFINISHED}${crypto.randomUUID()}`);
    await mkdir(folder, { recursive: true, mode: 0o755 });
    return folder;
  }

  /** Removes what was not finished. Under the lock. */
  async removeUnfinished(name: string): Promise<void> {
    const names = await readdir(join(this.folder, name)).catch(() => []);
    for (const left of names.filter((one) => one.startsWith(UNFINISHED))) {
      await rm(join(this.folder, name, left), { recursive: true, force: true });
    }
  }

  /** Puts a finished folder in its place, in one step, when all of it is on the disk. */
  async putInPlace(work: string, { name, hash }: { name: string; hash: string }): Promise<string> {
    const place = join(this.folder, name, hash);
    for (const file of await readdir(work)) await syncPath(join(work, file));
    await syncPath(work);
    // An image of the same hash that is there is broken, or it would not have been built again.
    await rm(place, { recursive: true, force: true });
    await rename(work, place);
    await syncPath(join(this.folder, name));
    return place;
  }

  /** An image stops being one before anything else of it goes. */
  async remove({ folder }: VmImage): Promise<void> {
    await rm(join(folder, 'manifest.json'), { force: true });
    await rm(folder, { recursive: true, force: true });
  }

  /** Bytes on the disk. */
  async measure(folder: string): Promise<number> {
    let bytes = 0;
    const entries = await readdir(folder, { withFileTypes: true, recursive: true }).catch(() => []);
    for (const entry of entries) {
      if (entry.isFile()) bytes += (await lstat(join(entry.parentPath, entry.name))).blocks * 512;
    }
    return bytes;
  }
}

async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
