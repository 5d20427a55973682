import { z } from 'zod';
import { imageManifest } from './image-manifest.ts';

const part = z.object({
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  bytes: z.number().int().positive(),
});

/** First part of an image file: what the image is, and what the parts after it must be, in this order. */
export const archiveManifest = imageManifest.extend({
  files: z.object({ kernel: part, initramfs: part, 'disk.qcow2': part }),
});
export type ArchiveManifest = z.infer<typeof archiveManifest>;
export const PARTS = ['kernel', 'initramfs', 'disk.qcow2'] as const;
export const MANIFEST = 'manifest.json';

/** What parts may have at most, in bytes: an image is not used to fill a host. */
export const MOST_BYTES = {
  [MANIFEST]: 64 * 1024,
  kernel: 256 * 1024 ** 2,
  initramfs: 256 * 1024 ** 2,
  'disk.qcow2': 7 * 1024 ** 3,
} as const;
