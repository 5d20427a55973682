import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { deleteMachine, listMachines, listOldMachinesAside } from './machine.store.ts';
import type { SessionDeps } from './session-types.ts';

const MACHINE_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Folders of machines on this host. */
export async function listMachineFolders(machinesFolder: string): Promise<string[]> {
  const names = await readdir(machinesFolder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return names.filter((name) => MACHINE_ID.test(name));
}

/**
 * Removes what is kept of machines that no row tells of (their users are gone), and of those that were set aside long
 * ago. `isLive`: one that this process is at work with. Returns how many.
 */
export async function sweepMachines(
  deps: Pick<SessionDeps, 'database' | 'provider' | 'hostId' | 'machinesFolder' | 'snapshotMaxAgeDays'>,
  isLive: (id: string) => boolean,
): Promise<number> {
  const { database, hostId, machinesFolder } = deps;
  // The folders first: a row is written before its folder is made.
  const folders = await listMachineFolders(machinesFolder);
  for (const row of await listOldMachinesAside(database, hostId, deps.snapshotMaxAgeDays)) {
    if (!isLive(row.id)) await deleteMachine(database, { id: row.id, hostId, userId: row.userId });
  }
  const known = new Set((await listMachines(database, hostId, null)).map((row) => row.id));
  const strays = folders.filter((id) => !known.has(id) && !isLive(id));
  for (const id of strays) {
    const folder = join(machinesFolder, id);
    await deps.provider.forget(folder);
    await rm(folder, { recursive: true, force: true });
  }
  return strays.length;
}
