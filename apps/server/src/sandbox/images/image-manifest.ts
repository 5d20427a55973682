import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { templateName } from '@vitto/contracts';

/** Version of the guest's protocol (`images/guest/PROTOCOL.md`): an image of another one cannot be talked to. */
export const GUEST_PROTOCOL = 1;

export const recipeHash = z.string().regex(/^[0-9a-f]{64}$/);

/** What an image is; written last into its folder: without it there is no image. */
export const imageManifest = z.object({
  version: z.literal(1),
  name: templateName,
  hash: recipeHash,
  architecture: z.enum(['x64', 'arm64']),
  guestProtocol: z.number().int(),
  suite: z.string().max(32),
  kernel: z.string().max(128),
  builtAt: z.iso.datetime({ offset: true }),
  memoryMib: z.number().int().min(256).max(65_536),
  cpus: z.number().int().min(1).max(64),
  diskGib: z.number().int().min(1).max(1024),
  /** Bytes of files in the image. */
  usedBytes: z.number().int().nonnegative(),
});
export type ImageManifest = z.infer<typeof imageManifest>;

/** `null` when the folder holds no whole image. */
export async function readManifest(folder: string): Promise<ImageManifest | null> {
  try {
    return imageManifest.parse(JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8')));
  } catch {
    return null;
  }
}
