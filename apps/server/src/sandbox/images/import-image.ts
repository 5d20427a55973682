import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { chmod, mkdir, open, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createZstdDecompress } from 'node:zlib';
import { AppError } from '../../kernel/app-error.ts';
import { withFileLock } from './file-lock.ts';
import { badFile, BLOCK } from './archive-format.ts';
import { archiveManifest, MANIFEST, MOST_BYTES, PARTS, type ArchiveManifest } from './archive-manifest.ts';
import { ArchiveReader } from './archive-reader.ts';
import { isNoSpace, noSpace } from './explain-failure.ts';
import { GUEST_PROTOCOL, imageManifest, type ImageManifest } from './image-manifest.ts';
import type { ImageStore, StoredImage } from './image-store.ts';
import { readDiskSize } from './qcow2-header.ts';
import { runProgram, type ProgramSurroundings } from './run-program.ts';

/**
 * Takes an image from a file that `exportImage` wrote. Sizes, checksums and the form of the disk are checked before
 * anything of it is used, and it is there in one step or not at all. What it holds runs in VMs of this host: whoever
 * imports a file trusts who made it with what is inside of VMs, and with nothing else.
 * @throws AppError `image.bad-file`, `image.other-program`, `image.no-space`
 */
export async function importImage(
  file: string,
  store: ImageStore,
  surroundings: ProgramSurroundings,
): Promise<StoredImage> {
  const stream = createReadStream(file).on('error', (error) => unpacked.destroy(error));
  const unpacked = stream.pipe(createZstdDecompress());
  try {
    return await readImage(new ArchiveReader(unpacked), store, surroundings);
  } catch (error) {
    throw explain(error);
  } finally {
    stream.destroy();
    unpacked.destroy();
  }
}

async function readImage(
  reader: ArchiveReader,
  store: ImageStore,
  surroundings: ProgramSurroundings,
): Promise<StoredImage> {
  const archive = await readManifest(reader);
  const { files, ...rest } = archive;
  const manifest = imageManifest.parse(rest);
  checkFits(manifest);
  const { name, hash } = manifest;
  await mkdir(join(store.folder, name), { recursive: true, mode: 0o755 });
  return withFileLock(store.lockFile(name), { signal: surroundings.signal }, async () => {
    const there = (await store.list(name)).find((image) => image.hash === hash);
    if (there !== undefined) return there;
    await store.removeUnfinished(name);
    const work = await store.makeWorkFolder(name);
    try {
      for (const part of PARTS) await readPart(reader, part, files[part], work);
      await unpackDisk(work, manifest.diskGib, surroundings);
      await writeFile(join(work, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`);
      return { name, hash, manifest, folder: await store.putInPlace(work, { name, hash }) };
    } finally {
      await store.removeUnfinished(name);
    }
  });
}

async function readManifest(reader: ArchiveReader): Promise<ArchiveManifest> {
  const text = await readSmall(reader, MANIFEST, MOST_BYTES[MANIFEST]);
  let value: unknown;
  try {
    value = JSON.parse(text.toString('utf8'));
  } catch {
    throw badFile('its manifest cannot be read');
  }
  const parsed = archiveManifest.safeParse(value);
  if (!parsed.success)
    throw badFile(`its manifest is wrong (${parsed.error.issues[0]?.path.join('.') ?? ''})`);
  return parsed.data;
}

function checkFits({ guestProtocol, architecture }: ImageManifest): void {
  if (guestProtocol === GUEST_PROTOCOL && architecture === process.arch) return;
  throw new AppError(
    'image.other-program',
    `This image is for ${architecture} and guest protocol ${guestProtocol}; here it is ${process.arch} and ${GUEST_PROTOCOL}.`,
    {
      status: 409,
      hint: 'Export it from a host with the same version of Vitto and the same kind of processor.',
    },
  );
}

/** Writes a part into the folder under its fixed name, and checks that it is what the manifest says. */
async function readPart(
  reader: ArchiveReader,
  name: (typeof PARTS)[number],
  expected: { sha256: string; bytes: number },
  folder: string,
): Promise<void> {
  const found = await expectPart(reader, name, MOST_BYTES[name]);
  if (found !== expected.bytes) throw badFile(`${name} in it has another size than its manifest says`);
  const hash = createHash('sha256');
  const handle = await open(join(folder, name), 'wx', 0o644);
  try {
    for await (const piece of reader.content(found)) {
      hash.update(piece);
      await handle.writeFile(piece);
    }
  } finally {
    await handle.close();
  }
  if (hash.digest('hex') !== expected.sha256) throw badFile(`${name} in it is damaged`);
}

async function readSmall(reader: ArchiveReader, name: string, most: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of reader.content(await expectPart(reader, name, most))) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** The size of the next part, which must be this one. */
async function expectPart(reader: ArchiveReader, name: string, most: number): Promise<number> {
  const part = await reader.next();
  if (part?.name !== name) throw badFile(`${name} is missing in it`);
  if (part.size > most) throw badFile(`${name} in it is too large`);
  return part.size;
}

async function unpackDisk(work: string, gib: number, surroundings: ProgramSurroundings): Promise<void> {
  const packed = join(work, 'disk.qcow2');
  const handle = await open(packed, 'r');
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(BLOCK), 0, BLOCK, 0);
    const size = readDiskSize(buffer.subarray(0, bytesRead));
    if (size !== BigInt(gib) * 1024n ** 3n) throw badFile('its disk has another size than its manifest says');
  } finally {
    await handle.close();
  }
  const raw = join(work, 'disk.raw');
  await runProgram(['qemu-img', 'convert', '-f', 'qcow2', '-O', 'raw', packed, raw], surroundings);
  await chmod(raw, 0o644);
  await rm(packed);
}

function explain(error: unknown): unknown {
  if (isNoSpace(error)) return noSpace(error);
  const { code } = error as { code?: unknown };
  if (code === 'ENOENT' || code === 'EISDIR' || code === 'EACCES')
    return badFile('it is not there, or may not be read');
  // What zlib says of a stream that is no zstd, was cut or has flipped bits.
  if (typeof code === 'string' && /^(ZSTD_|Z_)/.test(code))
    return badFile('it is damaged or no image of Vitto');
  return error;
}
