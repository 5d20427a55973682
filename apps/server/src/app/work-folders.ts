import { GuestError, type GuestSession, type ListFilesResult } from '@vitto/contracts';
import { z } from 'zod';
import { WORK_ROOT, workFolderOf } from '../engine/index.ts';
import type { Database } from '../kernel/database/database.ts';
import { findWorkedOff } from './work-folders.store.ts';

/** Folders of sub-Vittos are kept in the machine for so long after the task that deployed them has ended. */
const KEPT_HOURS = 24;
const STEP_MS = 30_000;
const MOST_PAGES = 20;

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
 * Removes from a machine the folders of sub-Vittos whose root task ended a day ago; everything else in there is
 * somebody's. Never throws: what cannot be removed now is with the next start of the machine.
 */
export async function removeOldWorkFolders(
  guest: GuestSession,
  { database, userId, signal }: { database: Database; userId: string; signal: AbortSignal },
): Promise<void> {
  try {
    const ids = await listTaskFolders(guest, signal);
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

/** Folders that are named as a task may be. */
async function listTaskFolders(guest: GuestSession, signal: AbortSignal): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | null = null;
  // What a guest says is not trusted to come to an end.
  for (let pages = 0; pages < MOST_PAGES; pages += 1) {
    const page: ListFilesResult = await guest.listFiles({
      path: WORK_ROOT,
      signal,
      ...(cursor === null ? {} : { cursor }),
    });
    for (const { type, path } of page.entries) {
      const name = path.split('/').at(-1) ?? '';
      if (type === 'directory' && z.uuidv7().safeParse(name).success) ids.push(name);
    }
    cursor = page.nextCursor;
    if (cursor === null) break;
  }
  return ids;
}
