import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { getuid } from 'node:process';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { BLOCK, makeHeader, paddingOf } from './archive-format.ts';
import { exportImage } from './export-image.ts';
import { buildImage } from './image-builder.ts';
import { ImageStore, type StoredImage } from './image-store.ts';
import { importImage } from './import-image.ts';
import { TinyImage } from './testing-tiny-image.ts';

let tiny: TinyImage;
let image: StoredImage;
let file: string;
/** The image file without its compression. */
let plain: Buffer;
beforeAll(async () => {
  tiny = await TinyImage.make();
  const { store, recipes, environment } = tiny;
  const request = {
    store,
    recipes,
    architecture: process.arch,
    isRoot: getuid?.() === 0,
    onProgress: () => undefined,
  };
  image = await buildImage('tiny', request, { environment });
  file = join(tiny.folder, 'tiny.vitto-image');
  await exportImage(image, file, { environment });
  plain = zstdDecompressSync(await readFile(file));
});
afterAll(() => tiny.remove());

let other: ImageStore;
let count = 0;
beforeEach(() => {
  other = new ImageStore(join(tiny.folder, `host-${(count += 1)}`));
});

const take = (path = file) => importImage(path, other, { environment: tiny.environment });

async function takeChanged(change: (archive: Buffer) => Buffer): Promise<unknown> {
  const path = join(tiny.folder, `changed-${count}`);
  await writeFile(path, zstdCompressSync(change(Buffer.from(plain))));
  return take(path);
}

async function expectNothing(): Promise<void> {
  expect(await other.list('tiny')).toEqual([]);
  const names = await readdir(join(other.folder, 'tiny')).catch(() => []);
  expect(names.filter((name) => name !== '.lock')).toEqual([]);
}

interface Part {
  name: string;
  content: Buffer;
}

function readParts(archive: Buffer): Part[] {
  const parts: Part[] = [];
  for (let at = 0; archive[at] !== 0;) {
    const name = archive.toString('latin1', at, archive.indexOf(0, at));
    const size = Number.parseInt(archive.toString('latin1', at + 124, at + 135), 8);
    parts.push({ name, content: archive.subarray(at + BLOCK, at + BLOCK + size) });
    at += BLOCK + size + paddingOf(size);
  }
  return parts;
}

function writeParts(parts: Part[]): Buffer {
  const pieces = parts.flatMap(({ name, content }) => [
    makeHeader(name, content.length),
    content,
    Buffer.alloc(paddingOf(content.length)),
  ]);
  return Buffer.concat([...pieces, Buffer.alloc(2 * BLOCK)]);
}

/** The archive with another disk, as somebody would make it who can compute checksums. */
function withDisk(archive: Buffer, disk: Buffer): Buffer {
  const parts = readParts(archive);
  const manifest = JSON.parse(parts[0]?.content.toString() ?? '') as { files: Record<string, unknown> };
  manifest.files['disk.qcow2'] = {
    sha256: createHash('sha256').update(disk).digest('hex'),
    bytes: disk.length,
  };
  const rest = parts.slice(1, -1);
  return writeParts([
    { name: 'manifest.json', content: Buffer.from(JSON.stringify(manifest)) },
    ...rest,
    { name: 'disk.qcow2', content: disk },
  ]);
}

/** The archive with a manifest that was changed. */
function withManifest(archive: Buffer, change: Record<string, unknown>): Buffer {
  const [first, ...rest] = readParts(archive);
  const manifest = JSON.parse(first?.content.toString() ?? '') as object;
  return writeParts([
    { name: 'manifest.json', content: Buffer.from(JSON.stringify({ ...manifest, ...change })) },
    ...rest,
  ]);
}

/** A header whose checksum is right after a change. */
function changeHeader(archive: Buffer, at: number, change: (header: Buffer) => void): Buffer {
  const header = archive.subarray(at, at + BLOCK);
  change(header);
  header.fill(' ', 148, 156);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return archive;
}

describe('an image file', () => {
  it('brings the same image to another host', async () => {
    const taken = await take();
    expect(taken.manifest).toEqual(image.manifest);
    for (const name of ['kernel', 'initramfs', 'disk.raw']) {
      const [there, here] = [join(image.folder, name), join(taken.folder, name)];
      expect(() => execFileSync('cmp', [there, here])).not.toThrow();
      expect((await stat(here)).mode & 0o777).toBe(0o644);
    }
    expect((await stat(join(taken.folder, 'disk.raw'))).blocks * 512).toBeLessThan(64 * 1024 ** 2);
    expect((await take()).folder).toBe(taken.folder);
  });

  it('is an ordinary tar inside, as other programs see it', () => {
    const names = execFileSync('tar', ['-t'], { input: plain }).toString().trim().split('\n');
    expect(names).toEqual(['manifest.json', 'kernel', 'initramfs', 'disk.qcow2']);
  });

  it.each<[string, (header: Buffer) => void]>([
    ['a path that leaves', (header) => header.write('../../../etc/passwd\0', 0, 'latin1')],
    ['an absolute path', (header) => header.write('/etc/passwd\0', 0, 'latin1')],
    ['a path by its prefix', (header) => header.write('../..\0', 345, 'latin1')],
    ['a link', (header) => header.write('2', 156, 'latin1')],
    ['a hard link', (header) => header.write('1', 156, 'latin1')],
    ['a folder', (header) => header.write('5', 156, 'latin1')],
    ['a device', (header) => header.write('3', 156, 'latin1')],
    ['a long name', (header) => header.write('L', 156, 'latin1')],
    ['another name', (header) => header.write('kernel\0', 0, 'latin1')],
    ['a huge size', (header) => header.write('77777777777\0', 124, 'latin1')],
    ['a size that is none', (header) => header.write('-0000000001\0', 124, 'latin1')],
  ])('with %s is refused, and nothing of it is written', async (_what, change) => {
    await expect(takeChanged((archive) => changeHeader(archive, 0, change))).rejects.toMatchObject({
      code: 'image.bad-file',
    });
    await expectNothing();
  });

  it.each<[string, (archive: Buffer) => Buffer]>([
    ['cut short', (archive) => archive.subarray(0, archive.length - 4_000)],
    [
      'one bit flipped in the disk',
      (archive) => (
        archive.writeUInt8(archive.readUInt8(archive.length - 3_000) ^ 1, archive.length - 3_000),
        archive
      ),
    ],
    [
      'a part missing',
      (archive) => writeParts(readParts(archive).filter(({ name }) => name !== 'initramfs')),
    ],
    ['parts in another order', (archive) => writeParts(readParts(archive).reverse())],
    [
      'a manifest that is none',
      (archive) =>
        writeParts([{ name: 'manifest.json', content: Buffer.from('{') }, ...readParts(archive).slice(1)]),
    ],
    ['a name that leaves', (archive) => withManifest(archive, { name: '../../x' })],
    ['a hash that leaves', (archive) => withManifest(archive, { hash: '..' })],
    ['a disk of another size', (archive) => withManifest(archive, { diskGib: 2 })],
    ['no disk at all', (archive) => withDisk(archive, Buffer.alloc(4_096))],
  ])('with %s is refused', async (_what, change) => {
    await expect(takeChanged(change)).rejects.toMatchObject({ code: 'image.bad-file' });
    await expectNothing();
  });

  it.each([
    ['lies over a file of this host', ['-b', '/etc/passwd', '-F', 'raw']],
    ['keeps its data in a file of this host', ['-o', 'data_file=DATA,data_file_raw=on']],
  ])('whose disk %s is refused', async (_what, options) => {
    const disk = join(tiny.folder, `hostile-${count}.qcow2`);
    const words = options.map((word) => word.replace('DATA', join(tiny.folder, `data-${count}`)));
    execFileSync('qemu-img', ['create', '-q', '-f', 'qcow2', ...words, disk, '1G'], { stdio: 'ignore' });
    const bytes = await readFile(disk);
    await expect(takeChanged((archive) => withDisk(archive, bytes))).rejects.toMatchObject({
      code: 'image.bad-file',
      message: expect.stringContaining('stands by itself') as string,
    });
    await expectNothing();
  });

  it('of another guest protocol says what to do', async () => {
    const taking = takeChanged((archive) => withManifest(archive, { guestProtocol: 99 }));
    await expect(taking).rejects.toMatchObject({ code: 'image.other-program' });
  });

  it('that is not there, a folder or something else is refused', async () => {
    await mkdir(join(tiny.folder, `folder-${count}`));
    await writeFile(join(tiny.folder, `text-${count}`), 'hello');
    for (const name of ['nothing', `folder-${count}`, `text-${count}`]) {
      await expect(take(join(tiny.folder, name))).rejects.toMatchObject({ code: 'image.bad-file' });
    }
  });
});
