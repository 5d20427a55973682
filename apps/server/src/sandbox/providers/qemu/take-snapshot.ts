import { chmod, chown, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { newId } from '../../../kernel/ids.ts';
import { ProviderError } from '../sandbox-provider.ts';
import type { VmUser } from './command-line.ts';
import { syncPath } from './durable-files.ts';
import { flattenDisk } from './flatten-disk.ts';
import type { QemuHost } from './launch-vm.ts';
import { MachineFiles, type MachineRecord } from './machine-files.ts';
import type { MemoryWorkers } from './memory-workers.ts';
import type { QemuVm } from './qemu-vm.ts';
import { saveState } from './save-state.ts';
import { fitOf } from './snapshot-fit.ts';
import { writeManifest, type SnapshotManifest } from './snapshot-manifest.ts';
import { stopProcess } from './stop-vm.ts';
import { vmUser } from './vm-user.ts';

/** A disk up to this many bytes is read whole at each restore; of a larger one length and structure are checked. */
export const WHOLE_DISK = 64 * 1024 * 1024;

/**
 * Takes the snapshot of a machine and ends its VM. All of the new snapshot is on the disk before the machine's record
 * names it; until then the older one stands, and after a crash what is not named is removed.
 * @throws ProviderError; the VM has ended then, and its disk is kept.
 */
export async function suspendVm(
  host: QemuHost,
  workers: MemoryWorkers,
  vm: QemuVm,
): Promise<SnapshotManifest> {
  const files = new MachineFiles(vm.spec.machineFolder);
  const id = newId();
  const folder = files.snapshot(id);
  try {
    const record = await files.read();
    if (record === null) throw new Error('the machine has no record');
    const manifest = await writeSnapshot(host, workers, vm, { id, folder, files, record });
    const overlays = manifest.disks.map(({ name }) => name);
    const after = { ...record, overlays, frozen: overlays.length, snapshotId: id };
    await files.write(after);
    // Not what the snapshot is waited for: what is left over is removed at the next start too.
    await files.removeLeftovers(after).catch(() => undefined);
    return manifest;
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw snapshotError(error);
  } finally {
    await endVm(host, vm);
  }
}

/** Writes a whole snapshot into a new folder and freezes the disk. The VM's process has ended when this resolves. */
export async function writeSnapshot(
  host: QemuHost,
  workers: MemoryWorkers,
  vm: QemuVm,
  { id, folder, files, record }: { id: string; folder: string; files: MachineFiles; record: MachineRecord },
): Promise<SnapshotManifest> {
  const { spec } = vm;
  const user = vmUser(host.uids, spec.userNumber);
  const run = host.runFolder(vm.id);
  const draft = `${folder}.draft`;
  await mkdir(draft, { mode: 0o700 });
  try {
    vm.disconnectAgent();
    await vm.monitor.execute('stop');
    const overlays = await flattenDisk(vm.monitor, files, record);
    await saveState(vm.monitor, run, join(draft, 'state'));
    const bytes = spec.memoryMib * 1024 * 1024;
    const [memory] = await Promise.all([workers.pack(run.memory, bytes, draft), stopProcess(vm.identity)]);
    await files.freeze(overlays.at(-1) ?? '', user);
    const manifest: SnapshotManifest = {
      id,
      createdAt: new Date().toISOString(),
      fit: fitOf(host, spec),
      memory,
      state: await workers.checksum(join(draft, 'state')),
      disks: await Promise.all(overlays.map((name) => describeDisk(workers, files, name))),
    };
    await letRead(draft, user, ['state', ...memory.map(({ file }) => file)]);
    await writeManifest(draft, manifest);
    await rename(draft, folder);
    await syncPath(dirname(folder));
    return manifest;
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw error;
  }
}

async function describeDisk(
  workers: MemoryWorkers,
  files: MachineFiles,
  name: string,
): Promise<SnapshotManifest['disks'][number]> {
  const file = await open(files.disk(name), 'r');
  const { size } = await file.stat().finally(() => file.close());
  if (size > WHOLE_DISK) return { name, bytes: size, crc: null };
  return { name, ...(await workers.checksum(files.disk(name))) };
}

/** QEMU is handed the state as an open file; nothing of a snapshot is the VM's user's. */
async function letRead(folder: string, user: VmUser, names: string[]): Promise<void> {
  if (user !== null) await chown(folder, 0, 0);
  for (const name of names) await chmod(join(folder, name), 0o400);
}

async function endVm(host: QemuHost, vm: QemuVm): Promise<void> {
  await stopProcess(vm.identity);
  await host.runFolder(vm.id).remove();
}

export function snapshotError(error: unknown): ProviderError {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new ProviderError(
      'no-space',
      'The disk of the host is full, so no snapshot was taken. The disk of the machine is kept.',
      'Free space, or forget machines that nobody needs: `vitto vm ls`.',
    );
  }
  return new ProviderError('snapshot-failed', `No snapshot was taken: ${message}`);
}
