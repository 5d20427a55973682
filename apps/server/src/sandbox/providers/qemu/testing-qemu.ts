import { chmod, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { ImageStore } from '../../images/image-store.ts';
import type { VmImage } from '../sandbox-provider.ts';
import { QemuProvider, type QemuProviderOptions } from './qemu-provider.ts';

/** A folder for the VMs of a test that their users can pass through, and providers over it. */
export interface QemuUnderTest {
  root: string;
  image: VmImage;
  open: (options?: Partial<QemuProviderOptions>) => QemuProvider;
  /** Ends what runs and removes everything. */
  close: () => Promise<void>;
}

export async function openQemu(name: 'minimal' | 'developer' = 'minimal'): Promise<QemuUnderTest> {
  const image = images[name];
  if (image === undefined) throw new Error(`build the image first: npm run vitto -- image build ${name}`);
  const root = await mkdtemp(join(tmpdir(), 'vitto-vm-'));
  await chmod(root, 0o711);
  const open = (options: Partial<QemuProviderOptions> = {}): QemuProvider =>
    new QemuProvider({ root, findImage: async () => image, ...options });
  return {
    root,
    image,
    open,
    close: async () => {
      const provider = open();
      for (const { vmId } of await provider.list()) await provider.destroy(vmId);
      await rm(root, { recursive: true, force: true });
    },
  };
}

/** The same image in a folder of its own, which it makes: without snapshots, and with those that come alone. */
export async function linkImage(image: VmImage, folder: string): Promise<VmImage> {
  await mkdir(folder, { recursive: true });
  // Those who run VMs pass through it.
  await chmod(folder, 0o755);
  for (const name of ['kernel', 'initramfs', 'disk.raw'])
    await symlink(join(image.folder, name), join(folder, name));
  return { ...image, folder };
}

/** The newest images on this machine; `npm test` builds them where that is possible. */
async function findImage(name: string): Promise<VmImage | undefined> {
  const isRoot = process.getuid?.() === 0;
  const folder = isRoot ? '/var/cache/vitto/images' : join(homedir(), '.cache/vitto/images');
  return (await new ImageStore(folder).list(name))[0];
}
const images = { minimal: await findImage('minimal'), developer: await findImage('developer') };

/** Without an image there is nothing to start VMs from: tests that need them are skipped, and shown as such. */
export const hasImage = images.minimal !== undefined;
export const hasDeveloperImage = images.developer !== undefined;
