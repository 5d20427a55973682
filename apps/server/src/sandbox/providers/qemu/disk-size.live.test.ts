import { randomUUID } from 'node:crypto';
import { mkdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runIn } from '../sandbox-provider.contract.ts';
import type { Vm, VmSpec } from '../sandbox-provider.ts';
import type { QemuProvider } from './qemu-provider.ts';
import { hasImage, openQemu, type QemuUnderTest } from './testing-qemu.ts';

const DISK_GIB = 6;
let qemu: QemuUnderTest;
let provider: QemuProvider;
let folder: string;
beforeAll(async () => {
  qemu = await openQemu();
  provider = qemu.open();
  // The image under another folder: its base snapshots are this test's own.
  folder = join(qemu.root, 'image');
  await mkdir(folder);
  for (const name of ['disk.raw', 'kernel', 'initramfs', 'manifest.json'])
    await symlink(join(qemu.image.folder, name), join(folder, name));
});
afterAll(async () => {
  await qemu.close();
  await rm(folder, { recursive: true, force: true });
});

const specOf = (machine: string): VmSpec => ({
  vmId: randomUUID(),
  machineFolder: join(qemu.root, 'machines', machine),
  image: { ...qemu.image, folder },
  memoryMib: 512,
  cpus: 2,
  diskGib: DISK_GIB,
  userNumber: 7,
});
const next = (spec: VmSpec): VmSpec => ({ ...spec, vmId: randomUUID() });

/** Of the guest's root: its size in GiB, and the word that was kept. */
const look = async (vm: Vm): Promise<string[]> => {
  const [size = '', word = ''] = await runIn(
    vm,
    "df --output=size -B 1M / | tail -1 | tr -d ' '",
    'cat /home/user/word',
  );
  return [String(Math.round(Number(size) / 1024)), word.trim()];
};
const write = 'echo kept >/home/user/word; fallocate -l 4500M /home/user/large && sync';

describe.skipIf(!hasImage)('a disk that is to be larger than its image', () => {
  it('is, when the machine boots from the image, and stays so through snapshot and boot', async () => {
    const spec = specOf('booted');
    const vm = await provider.create(spec);
    await runIn(vm, write);
    expect(await look(vm)).toEqual([String(DISK_GIB), 'kept']);
    await provider.suspend(vm);
    const second = next(spec);
    expect(await look(await provider.restore(second, 'machine'))).toEqual([String(DISK_GIB), 'kept']);
    await provider.destroy(second.vmId);
    // What came after the snapshot is another layer; the machine boots from the newest.
    expect(await look(await provider.create(next(spec)))).toEqual([String(DISK_GIB), 'kept']);
  });

  it("is, when the machine starts from the image's snapshot of that size", async () => {
    await provider.makeBaseSnapshot({ ...specOf('base'), userNumber: 0 });
    const spec = specOf('cloned');
    expect(await provider.hasBaseSnapshot(spec)).toBe(true);
    expect(await provider.hasBaseSnapshot({ ...spec, diskGib: DISK_GIB + 1 })).toBe(false);
    const vm = await provider.restore(spec, 'base');
    await runIn(vm, write);
    expect(await look(vm)).toEqual([String(DISK_GIB), 'kept']);
    await provider.suspend(vm);
    expect(await look(await provider.restore(next(spec), 'machine'))).toEqual([String(DISK_GIB), 'kept']);
  });
});
