import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Puts a file's content, or a folder's names, on the disk. */
export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Replaces a file in one step: after a crash there is the older content or the newer. */
export async function replaceFile(path: string, content: string, mode = 0o600): Promise<void> {
  const beside = `${path}.new`;
  await rm(beside, { force: true });
  const handle = await open(beside, 'wx', mode);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(beside, path);
  await syncPath(dirname(path));
}
