import { open, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { AppError } from '../../kernel/app-error.ts';
import { makeCpio, type CpioEntry } from './cpio-archive.ts';
import { readPackedKernel } from './kernel-image.ts';
import { runProgram, type ProgramSurroundings } from './run-program.ts';

/** Drivers that the cloud kernel has as modules and a VM needs before it has a disk; `images/guest/modules.c` loads them. */
const MODULES = [
  'drivers/virtio/virtio.ko',
  'drivers/virtio/virtio_ring.ko',
  'drivers/virtio/virtio_mmio.ko',
  'drivers/virtio/virtio_pci_modern_dev.ko',
  'drivers/virtio/virtio_pci_legacy_dev.ko',
  'drivers/virtio/virtio_pci.ko',
  'drivers/block/virtio_blk.ko',
  'drivers/char/hw_random/virtio-rng.ko',
  'drivers/char/virtio_console.ko',
];

export interface KernelRequest {
  /** Folder with the one kernel package. */
  packages: string;
  work: string;
  /** The static program that is first to run. */
  init: string;
  /** Where `kernel` and `initramfs` go. */
  to: string;
}

/** Unpacks a Debian kernel package into what QEMU starts. Gives the kernel's version. @throws AppError */
export async function makeKernelFiles(
  request: KernelRequest,
  surroundings: ProgramSurroundings,
): Promise<string> {
  const found = (await readdir(request.packages)).find((name) => name.endsWith('.deb'));
  if (found === undefined) throw missing('its package was not downloaded');
  const tree = join(request.work, 'kernel-tree');
  await runProgram(['dpkg-deb', '-x', join(request.packages, found), tree], surroundings);
  const vmlinuz = (await readdir(join(tree, 'boot'))).find((name) => name.startsWith('vmlinuz-'));
  if (vmlinuz === undefined) throw missing('its package holds none');
  const version = basename(vmlinuz).slice('vmlinuz-'.length);
  await unpackKernel(join(tree, 'boot', vmlinuz), join(request.to, 'kernel'), surroundings);
  const modules = join(tree, 'lib/modules', version, 'kernel');
  await writeFile(join(request.to, 'initramfs'), await makeInitramfs(request.init, modules));
  await rm(tree, { recursive: true, force: true });
  return version;
}

async function unpackKernel(from: string, to: string, surroundings: ProgramSurroundings): Promise<void> {
  const packed = readPackedKernel(await readFile(from));
  await runProgram(packed.unpackTo(to), surroundings, { stdin: packed.payload });
  const { size } = await stat(to);
  const isElf = (await readStart(to)).equals(Buffer.from('\x7fELF', 'latin1'));
  if (!isElf || size !== packed.size) throw missing('what came out of its package is no kernel');
}

async function readStart(file: string): Promise<Buffer> {
  const handle = await open(file, 'r');
  try {
    return (await handle.read(Buffer.alloc(4), 0, 4, 0)).buffer;
  } finally {
    await handle.close();
  }
}

/** `/init`, and `/modules/<name>.ko`, which it loads. */
async function makeInitramfs(init: string, modules: string): Promise<Buffer> {
  const entries: CpioEntry[] = [
    { path: 'dev', mode: 0o755, content: null },
    { path: 'init', mode: 0o755, content: await readFile(init) },
    { path: 'modules', mode: 0o755, content: null },
  ];
  for (const path of MODULES) {
    const content = await readFile(join(modules, path));
    entries.push({ path: `modules/${basename(path)}`, mode: 0o644, content });
  }
  return makeCpio(entries);
}

function missing(why: string): AppError {
  return new AppError('image.bad-kernel', `There is no kernel for the image: ${why}.`, {
    status: 500,
    hint: 'Build again; if it stays so, the Debian suite of the recipe has no cloud kernel of a known form.',
  });
}
