import { GuestError, type GuestSession } from '@vitto/contracts';
import { z } from 'zod';
import { WORK_ROOT, workFolderOf } from '../engine/index.ts';
import type { Database } from '../kernel/database/database.ts';
import { findWorkedOff } from './work-folders.store.ts';

/** Folders of sub-Vittos are kept in the machine for so long after the task that deployed them has ended. */
const KEPT_HOURS = 24;
const STEP_MS = 30_000;

/** Makes the working folder of a sub-Vitto in a VM. @throws GuestError */
export async function openWorkFolder(
  guest: GuestSession,
  taskId: string,
  signal: AbortSignal,
): Promise<string> {
  const folder = workFolderOf(taskId);
  const env = { FOLDER: folder };
  const { exitCode, stderr } = await guest.exec({
    command: 'mkdir -p -- "$FOLDER"',
    cwd: '/',
    env,
    timeoutMs: STEP_MS,
    signal,
  });
  if (exitCode !== 0) throw new GuestError('no-space', stderr.text.trim() || `${folder} could not be made`);
  return folder;
}

/**
 * Removes from a machine the folders of sub-Vittos whose root task ended a day ago or is gone; everything else in there
 * is somebody's. Never throws: what cannot be removed now is with the next start of the machine.
 */
export async function removeOldWorkFolders(
  guest: GuestSession,
  { database, userId, signal }: { database: Database; userId: string; signal: AbortSignal },
): Promise<void> {
  try {
    const { entries } = await guest.listFiles({ path: WORK_ROOT, signal });
    const ids = entries
      .filter((entry) => entry.type === 'directory')
      .map((entry) => entry.path.split('/').at(-1) ?? '')
      .filter((name) => z.uuidv7().safeParse(name).success);
    if (ids.length === 0) return;
    const old = await findWorkedOff(database.pool, userId, ids, KEPT_HOURS);
    for (const id of old) {
      const env = { FOLDER: workFolderOf(id) };
      await guest.exec({ command: 'rm -rf -- "$FOLDER"', cwd: '/', env, timeoutMs: STEP_MS, signal });
    }
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof GuestError)) throw error;
  }
}
