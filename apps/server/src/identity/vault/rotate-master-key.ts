import { link, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { AppError } from '../../kernel/app-error.ts';
import type { Database } from '../../kernel/database/database.ts';
import { readProcesses, removeDeadProcesses } from '../../kernel/process-registry.store.ts';
import { ensureKeyFile, keyFileOf, nextKeyFile, readKeyFile } from './master-key.ts';
import { resealAll, type Resealed } from './reseal.ts';
import type { SealedTable } from './sealed-table.ts';
import { Vault } from './vault.ts';

export interface Rotation extends Resealed {
  from: string;
  to: string;
  /** Where the older key is kept, for backups that were made before. */
  keptIn: string;
}

/**
 * Makes a new master key, seals everything with it, and puts it in the place of the older one. Nothing of Vitto may
 * run meanwhile: a process knows one key alone, and would go on sealing with the older one. While `master.key.next`
 * lies beside the key, no process starts; after a break the next call goes on with it.
 * @throws AppError `vault.in-use`, `vault.no-key-file`, `vault.master-key`
 */
export async function rotateMasterKey(
  database: Database,
  options: { home: string; setting: string | null; tables: readonly SealedTable[] },
): Promise<Rotation> {
  const path = await keyFileOf(options);
  if (path === null) throw noKeyFile();
  const next = nextKeyFile(path);
  const older = new Vault(await readKeyFile(path));
  // First the file, then the question who runs: whoever starts between the two sees the file when it has joined.
  const isNew = await ensureKeyFile(next);
  try {
    await refuseWhileInUse(database);
  } catch (error) {
    // Nothing is sealed with a key that was only just made: a start is not to wait for it.
    if (isNew) await rm(next);
    throw error;
  }
  const newer = new Vault(await readKeyFile(next));
  const done = await resealAll(database, options.tables, older, newer);
  const keptIn = `${path}.${older.keyId}`;
  await link(path, keptIn).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  await rename(next, path);
  await syncFolder(dirname(path));
  return { ...done, from: older.keyId, to: newer.keyId, keptIn };
}

async function refuseWhileInUse(database: Database): Promise<void> {
  await removeDeadProcesses(database);
  const alive = (await readProcesses(database)).filter((one) => one.isAlive);
  if (alive.length === 0) return;
  const names = alive.map(({ host, pid }) => `${host}:${pid}`).join(', ');
  throw new AppError('vault.in-use', `Vitto is running (${names}).`, {
    status: 409,
    hint: 'Stop every process of this installation and run `vitto vault rotate` again.',
  });
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function noKeyFile(): AppError {
  return new AppError(
    'vault.no-key-file',
    'VITTO_MASTER_KEY holds the key itself, which cannot be replaced from here.',
    {
      status: 409,
      hint: 'Write the key into a file (mode 600), set VITTO_MASTER_KEY to its path, and run this again. On several machines, copy the new file to all of them afterwards.',
    },
  );
}
