import { randomUUID } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const FILE = 'server-address';

/**
 * Writes where a server listens into its home (mode 600), for the command line on the same machine. Of several servers
 * on one home the last one started is found. Call it when the server listens.
 * @returns removes the file, if it still names this server. Call it while the server still listens: nobody else can
 * have the same address then. What a killed server leaves is harmless: nothing answers there.
 */
export async function publishAddress(home: string, url: string): Promise<() => Promise<void>> {
  const path = join(home, FILE);
  const content = `${reachable(url)}\n`;
  await writeWhole(path, content);
  return async () => {
    const found = await readFile(path, 'utf8').catch(() => null);
    // What cannot be removed is as harmless as what a killed server leaves.
    if (found === content) await rm(path, { force: true }).catch(() => {});
  };
}

/** Who listens on every address of the machine is reached on its loopback. */
function reachable(url: string): string {
  const address = new URL(url);
  if (address.hostname === '0.0.0.0') address.hostname = '127.0.0.1';
  if (address.hostname === '[::]') address.hostname = '[::1]';
  return address.origin;
}

/** A reader finds the old content or the new, never a half. */
async function writeWhole(path: string, content: string): Promise<void> {
  const draft = `${path}.${randomUUID()}`;
  try {
    await writeFile(draft, content, { mode: 0o600, flag: 'wx' });
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
