import { chmod, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Database } from '../kernel/database/database.ts';
import { createApiToken, findApiToken } from './api-token.store.ts';
import { lockIdentity } from './identity-lock.store.ts';
import { newSecret } from './secret-token.ts';

/** The name of the token that the command line on the server's own machine uses. */
export const LOCAL_CLI_TOKEN_NAME = 'vitto on this machine';
const FILE = 'cli-token';

/**
 * Sees to it that `home` holds a token file (mode 600) with which the command line on the same machine signs in as
 * the user: made once, made again when the database no longer knows it.
 * @returns the id of the token that was made; `null` when there was one.
 */
export async function ensureLocalCliToken(
  database: Database,
  userId: string,
  home: string,
): Promise<string | null> {
  const path = join(home, FILE);
  return lockIdentity(database, async (client) => {
    if (await isGood(database, userId, path)) return null;
    const { id, token } = await createApiToken({ pool: client }, userId, { name: LOCAL_CLI_TOKEN_NAME });
    await writePrivately(path, `${token}\n`);
    return id;
  });
}

async function isGood(database: Database, userId: string, path: string): Promise<boolean> {
  let token: string;
  try {
    token = (await readFile(path, 'utf8')).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
  const found = await findApiToken(database, token);
  if (found?.user.id !== userId) return false;
  await chmod(path, 0o600);
  return true;
}

/** The file is whole or not there, and never readable by others, not even for a moment. */
async function writePrivately(path: string, content: string): Promise<void> {
  const draft = `${path}.${newSecret().slice(0, 8)}`;
  try {
    await writeFile(draft, content, { mode: 0o600, flag: 'wx' });
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
