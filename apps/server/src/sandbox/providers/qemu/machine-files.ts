import { chmod, chown, lstat, mkdir, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { ProviderError } from '../sandbox-provider.ts';
import type { VmUser } from './command-line.ts';
import { replaceFile, syncPath } from './durable-files.ts';
import { emptyOverlay } from './empty-overlay.ts';
import { makeFolder } from './run-folder.ts';

const FILE_NAME = z.string().regex(/^[A-Za-z0-9-]{1,64}\.qcow2$/);

const machineRecord = z.object({
  imageHash: z.string(),
  /** Overlays from the image on. What is not named here is left over and removed. */
  overlays: z.array(FILE_NAME).min(1),
  /** How many of them are frozen: no VM writes to them any more. */
  frozen: z.number().int().nonnegative(),
  snapshotId: z
    .string()
    .regex(/^[A-Za-z0-9-]{1,64}$/)
    .nullable(),
});
/** What is kept of a machine, in one file that is replaced in one step. */
export type MachineRecord = z.infer<typeof machineRecord>;

/** The folder of a machine: `machine.json`, `disks/`, `snapshots/<id>/`. */
export class MachineFiles {
  readonly folder: string;
  constructor(folder: string) {
    this.folder = folder;
  }

  disk(name: string): string {
    return join(this.folder, 'disks', name);
  }
  snapshot(id: string): string {
    return join(this.folder, 'snapshots', id);
  }
  paths({ overlays }: MachineRecord): string[] {
    return overlays.map((name) => this.disk(name));
  }

  async make(user: VmUser): Promise<void> {
    await mkdir(dirname(this.folder), { recursive: true, mode: 0o711 });
    for (const folder of [this.folder, join(this.folder, 'disks'), join(this.folder, 'snapshots')]) {
      await makeFolder(folder, user, 'passed');
    }
  }

  /** `null`: nothing is kept. @throws ProviderError when what is kept cannot be read. */
  async read(): Promise<MachineRecord | null> {
    const text = await readFile(join(this.folder, 'machine.json'), 'utf8').catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return null;
        throw error;
      },
    );
    if (text === null) return null;
    try {
      return machineRecord.parse(JSON.parse(text));
    } catch {
      throw new ProviderError(
        'start-failed',
        'The record of this machine is damaged.',
        'Forget the machine; a new one is made at the next start.',
      );
    }
  }

  async write(record: MachineRecord): Promise<void> {
    await replaceFile(join(this.folder, 'machine.json'), JSON.stringify(record));
  }

  /** The machine has no disk any more. */
  async forgetRecord(): Promise<void> {
    await rm(join(this.folder, 'machine.json'), { force: true });
    await syncPath(this.folder);
  }

  /** A new, empty overlay that the VM's user may write to. */
  async addOverlay(name: string, sizeBytes: number, user: VmUser): Promise<void> {
    const path = this.disk(name);
    await writeFile(path, emptyOverlay(sizeBytes), { mode: 0o600 });
    if (user !== null) await chown(path, user.uid, user.gid);
  }

  /** Bytes of the disk that an overlay shows to the guest, by its header (qcow2). */
  async diskSize(name: string): Promise<number> {
    const handle = await open(this.disk(name), 'r');
    try {
      const { buffer } = await handle.read(Buffer.alloc(8), 0, 8, 24);
      return Number(buffer.readBigUInt64BE());
    } finally {
      await handle.close();
    }
  }

  /** An overlay that is written to no more: the VMs of its machine read it, and only the server could change it. */
  async freeze(name: string, user: VmUser): Promise<void> {
    const path = this.disk(name);
    if (user !== null) await chown(path, 0, user.gid);
    await chmod(path, 0o440);
    await syncPath(path);
  }

  /** The other way round: a crash came between freezing and the record of it. */
  async thaw(name: string, user: VmUser): Promise<void> {
    const path = this.disk(name);
    await chmod(path, 0o600);
    if (user !== null) await chown(path, user.uid, user.gid);
  }

  /** Removes disks and snapshots that the record does not name: what a crash left. */
  async removeLeftovers(record: MachineRecord | null): Promise<void> {
    const keep = new Set([...(record?.overlays ?? []), record?.snapshotId]);
    for (const folder of ['disks', 'snapshots']) {
      for (const name of await readdir(join(this.folder, folder)).catch(() => [])) {
        if (!keep.has(name)) await rm(join(this.folder, folder, name), { recursive: true, force: true });
      }
    }
  }

  async measure(): Promise<{ diskBytes: number; snapshotBytes: number }> {
    const [diskBytes, snapshotBytes] = await Promise.all([
      diskUsage(join(this.folder, 'disks')),
      diskUsage(join(this.folder, 'snapshots')),
    ]);
    return { diskBytes, snapshotBytes };
  }
}

/** Bytes that the files below a folder take on the disk. */
export async function diskUsage(folder: string): Promise<number> {
  let bytes = 0;
  for (const name of await readdir(folder, { recursive: true }).catch(() => [])) {
    const found = await lstat(join(folder, name)).catch(() => null);
    if (found?.isFile() === true) bytes += found.blocks * 512;
  }
  return bytes;
}

/** Size of the image's file system. @throws ProviderError `image-missing` */
export async function imageSize(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch {
    throw new ProviderError(
      'image-missing',
      `A file of the image is missing: ${path}`,
      'Build the image again: `vitto image build NAME`.',
    );
  }
}
