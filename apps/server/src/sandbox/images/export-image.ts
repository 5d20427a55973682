import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, open, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createZstdCompress } from 'node:zlib';
import { BLOCK, makeHeader, paddingOf } from './archive-format.ts';
import { MANIFEST, PARTS, type ArchiveManifest } from './archive-manifest.ts';
import { isNoSpace, noSpace } from './explain-failure.ts';
import type { StoredImage } from './image-store.ts';
import { runProgram, type ProgramSurroundings } from './run-program.ts';

/**
 * Writes an image into one file: its manifest with checksums, kernel, initramfs and disk. Base snapshots fit one host
 * and are not in it. The file is there in one step, when it is whole.
 * @throws AppError
 */
export async function exportImage(
  image: StoredImage,
  file: string,
  surroundings: ProgramSurroundings,
): Promise<{ hash: string; bytes: number }> {
  const work = await mkdtemp(join(dirname(file), `.${basename(file)}-`));
  try {
    const disk = join(work, 'disk.qcow2');
    const pack = ['-c', '-o', 'compression_type=zstd', join(image.folder, 'disk.raw'), disk];
    await runProgram(['qemu-img', 'convert', '-f', 'raw', '-O', 'qcow2', ...pack], surroundings);
    const sources = {
      kernel: join(image.folder, 'kernel'),
      initramfs: join(image.folder, 'initramfs'),
      'disk.qcow2': disk,
    };
    const draft = join(work, 'archive');
    await pipeline(
      Readable.from(writeParts(image, sources), { objectMode: false }),
      createZstdCompress({ params: { [constants.ZSTD_c_checksumFlag]: 1 } }),
      createWriteStream(draft),
      { signal: surroundings.signal },
    );
    await syncFile(draft);
    await rename(draft, file);
    return { hash: image.hash, bytes: (await stat(file)).size };
  } catch (error) {
    throw isNoSpace(error) ? noSpace(error) : error;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function* writeParts(
  image: StoredImage,
  sources: Record<(typeof PARTS)[number], string>,
): AsyncGenerator<Buffer> {
  const files = {
    kernel: await describe(sources.kernel),
    initramfs: await describe(sources.initramfs),
    'disk.qcow2': await describe(sources['disk.qcow2']),
  };
  const manifest = Buffer.from(JSON.stringify({ ...image.manifest, files } satisfies ArchiveManifest));
  yield* writePart(MANIFEST, manifest.length, [manifest]);
  for (const name of PARTS) yield* writePart(name, files[name].bytes, createReadStream(sources[name]));
  yield Buffer.alloc(2 * BLOCK);
}

async function* writePart(
  name: string,
  size: number,
  content: Iterable<Buffer> | AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  yield makeHeader(name, size);
  yield* content;
  yield Buffer.alloc(paddingOf(size));
}

async function describe(file: string): Promise<{ sha256: string; bytes: number }> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return { sha256: hash.digest('hex'), bytes: (await stat(file)).size };
}

async function syncFile(file: string): Promise<void> {
  const handle = await open(file, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
