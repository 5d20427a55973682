import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { replaceFile } from './durable-files.ts';
import { memoryPart } from './memory-jobs.ts';
import { snapshotFit } from './snapshot-fit.ts';

const checked = { bytes: z.number().int().nonnegative(), crc: z.number().int() };

const snapshotManifest = z.object({
  id: z.string(),
  createdAt: z.iso.datetime(),
  fit: snapshotFit,
  memory: z.array(memoryPart).min(1),
  /** Of QEMU's devices, in `state`. */
  state: z.object(checked),
  /** Frozen overlays from the image on. `crc` is `null` for one that is too large to be read at each restore. */
  disks: z.array(z.object({ ...checked, name: z.string(), crc: z.number().int().nullable() })).min(1),
});
export type SnapshotManifest = z.infer<typeof snapshotManifest>;

/** Written last into a snapshot's folder: a folder without it is none. */
export async function writeManifest(folder: string, manifest: SnapshotManifest): Promise<void> {
  const body = JSON.stringify(manifest);
  await replaceFile(join(folder, 'manifest.json'), `${checksum(body)}\n${body}`);
}

/** `null`: there is no manifest. @throws Error when it is damaged */
export async function readManifest(folder: string): Promise<SnapshotManifest | null> {
  const text = await readFile(join(folder, 'manifest.json'), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (text === null) return null;
  const end = text.indexOf('\n');
  const body = text.slice(end + 1);
  if (text.slice(0, end) !== checksum(body)) throw new Error('its manifest is damaged');
  return snapshotManifest.parse(JSON.parse(body));
}

function checksum(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
