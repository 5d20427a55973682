import { randomBytes } from 'node:crypto';
import { access, chmod, chown, copyFile, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { VmSpec } from '../sandbox-provider.ts';
import { syncPath } from './durable-files.ts';
import type { QemuHost } from './launch-vm.ts';
import { MachineFiles } from './machine-files.ts';
import type { MemoryWorkers } from './memory-workers.ts';
import type { QemuVm } from './qemu-vm.ts';
import { fittingManifest, unusable, type Origin } from './resume-vm.ts';
import { fitKey, fitOf } from './snapshot-fit.ts';
import { writeManifest } from './snapshot-manifest.ts';
import { snapshotError, writeSnapshot } from './take-snapshot.ts';
import { vmUser } from './vm-user.ts';

/** Where an image keeps the base snapshot for hosts of this kind and VMs of this size. */
export function baseFolder(host: QemuHost, spec: VmSpec): string {
  return join(spec.image.folder, 'base', fitKey(fitOf(host, spec), spec.diskGib));
}

/**
 * Keeps a VM that has just booted as the base snapshot of its image, and ends it. In one step, so that of two that do
 * it at the same time one's stays. Readable by everybody, as the image is.
 * @throws ProviderError
 */
export async function keepAsBase(host: QemuHost, workers: MemoryWorkers, vm: QemuVm): Promise<void> {
  const target = baseFolder(host, vm.spec);
  const files = new MachineFiles(vm.spec.machineFolder);
  const folder = files.snapshot('base');
  const draft = `${target}.${randomBytes(6).toString('hex')}`;
  try {
    const record = await files.read();
    if (record === null) throw new Error('the machine has no record');
    const manifest = await writeSnapshot(host, workers, vm, { id: 'base', folder, files, record });
    await mkdir(draft, { recursive: true });
    const [disk] = manifest.disks;
    if (disk === undefined || manifest.disks.length !== 1)
      throw new Error('its disk has more than one layer');
    await copyFile(files.disk(disk.name), join(draft, 'disk.qcow2'));
    for (const name of ['state', ...manifest.memory.map(({ file }) => file)]) {
      await copyFile(join(folder, name), join(draft, name));
    }
    await writeManifest(draft, { ...manifest, disks: [{ ...disk, name: 'disk.qcow2' }] });
    await publish(draft, target);
  } catch (error) {
    throw snapshotError(error);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

async function publish(draft: string, target: string): Promise<void> {
  for (const name of await readdir(draft)) {
    // A copy keeps its owner otherwise.
    await chown(join(draft, name), process.getuid?.() ?? 0, process.getgid?.() ?? 0);
    await chmod(join(draft, name), 0o444);
    await syncPath(join(draft, name));
  }
  await chmod(draft, 0o755);
  await syncPath(draft);
  await rename(draft, target).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
  });
  await syncPath(join(target, '..'));
}

export async function hasBase(host: QemuHost, spec: VmSpec): Promise<boolean> {
  return access(join(baseFolder(host, spec), 'manifest.json')).then(
    () => true,
    () => false,
  );
}

/** The image's base snapshot, for a machine that has no disk yet: it gets a copy of that of the snapshot. */
export async function baseOrigin(host: QemuHost, workers: MemoryWorkers, spec: VmSpec): Promise<Origin> {
  const files = new MachineFiles(spec.machineFolder);
  if ((await files.read()) !== null) throw unusable('the machine has a disk of its own already');
  const user = vmUser(host.uids, spec.userNumber);
  const folder = baseFolder(host, spec);
  const manifest = await fittingManifest(host, spec, folder);
  const name = `${spec.vmId}.qcow2`;
  const path = files.disk(name);
  return {
    folder,
    manifest,
    before: null,
    after: { imageHash: spec.image.hash, overlays: [name], frozen: 0, snapshotId: null },
    makeDisk: async () => {
      await files.make(user);
      await writeFile(path, '', { mode: 0o600 });
      const [disk] = manifest.disks;
      const copied = await workers.copy(join(folder, 'disk.qcow2'), path);
      if (copied.crc !== disk?.crc || copied.bytes !== disk.bytes) {
        await rm(folder, { recursive: true, force: true });
        throw unusable('its disk is damaged');
      }
      if (user !== null) await chown(path, user.uid, user.gid);
    },
    checkDisks: async () => undefined,
    // The next start makes it anew; meanwhile machines boot.
    discard: () => rm(folder, { recursive: true, force: true }),
  };
}
