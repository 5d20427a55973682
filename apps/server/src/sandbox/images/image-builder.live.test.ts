import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { getuid } from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { buildImage } from './image-builder.ts';
import { TinyImage } from './testing-tiny-image.ts';

const HANGS = 'sleep 600';
const program = fileURLToPath(new URL('testing-build.ts', import.meta.url));
const isRoot = getuid?.() === 0;

let tiny: TinyImage;
beforeEach(async () => {
  tiny = await TinyImage.make();
});
afterEach(() => tiny.remove());

function build(signal?: AbortSignal, onProgress: (fraction: number) => void = () => undefined) {
  const { store, recipes, environment } = tiny;
  return buildImage(
    'tiny',
    { store, recipes, architecture: 'x64', isRoot, onProgress: ({ fraction }) => onProgress(fraction) },
    { environment, signal },
  );
}

function startBuilder() {
  const args = [program, tiny.store.folder, tiny.recipes, tiny.environment['PATH'] ?? ''];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
  return { child, ended: once(child, 'close').then(() => printed.trim()) };
}

/** What lies in the folder of the name, beside the lock. */
async function left(): Promise<string[]> {
  const names = await readdir(join(tiny.store.folder, 'tiny')).catch(() => []);
  return names.filter((name) => name !== '.lock');
}

const untilStarted = (count = 1) =>
  vi.waitFor(async () => expect(await tiny.runs()).toHaveLength(count), { timeout: 60_000 });
const isRunning = (pattern: string) =>
  readdir('/proc').then(async (pids) => {
    const lines = await Promise.all(
      pids.filter(Number).map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
    );
    return lines.some((line) => line.includes(pattern));
  });

describe('a build', () => {
  it('makes kernel, initramfs and disk, readable by all and sparse', async () => {
    const seen: number[] = [];
    const image = await build(undefined, (fraction) => seen.push(fraction));
    expect(await readdir(image.folder)).toEqual(['disk.raw', 'initramfs', 'kernel', 'manifest.json']);
    expect((await readFile(join(image.folder, 'kernel'))).subarray(0, 4).toString('latin1')).toBe('\x7fELF');
    const disk = await stat(join(image.folder, 'disk.raw'));
    expect(disk.size).toBe(1024 ** 3);
    expect(disk.blocks * 512).toBeLessThan(64 * 1024 ** 2);
    for (const name of await readdir(image.folder)) {
      expect((await stat(join(image.folder, name))).mode & 0o777).toBe(0o644);
    }
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
    expect(await left()).toEqual([image.hash]);
  });

  it('of the same recipe is made once, by however many at once and in whatever processes', async () => {
    await tiny.endWith('sleep 1');
    const others = [startBuilder(), startBuilder()];
    const mine = await build();
    const folders = await Promise.all(others.map(({ ended }) => ended));
    expect(folders).toEqual([mine.folder, mine.folder]);
    expect(await tiny.runs()).toHaveLength(1);
    expect((await build()).folder).toBe(mine.folder);
    expect(await tiny.runs()).toHaveLength(1);
  });

  it('of a changed recipe is another image beside the older one', async () => {
    const older = await build();
    await tiny.change('b');
    const newer = await build();
    expect(newer.hash).not.toBe(older.hash);
    expect((await tiny.store.list('tiny')).map(({ hash }) => hash)).toEqual([newer.hash, older.hash]);
  });

  it('whose process is killed leaves no image and no process, and the next one cleans up', async () => {
    await tiny.endWith(HANGS);
    const builder = startBuilder();
    await untilStarted();
    builder.child.kill('SIGKILL');
    await builder.ended;
    expect(await tiny.store.list('tiny')).toEqual([]);
    expect((await left()).length).toBeGreaterThan(0);
    if (isRoot) await vi.waitFor(async () => expect(await isRunning(tiny.folder)).toBe(false));
    await tiny.endWith('');
    const image = await build();
    expect(await left()).toEqual([image.hash]);
  });

  it('that is cancelled ends its programs and leaves nothing', async () => {
    await tiny.endWith(HANGS);
    const abort = new AbortController();
    const building = build(abort.signal);
    await untilStarted();
    abort.abort();
    await expect(building).rejects.toMatchObject({ code: 'image.cancelled' });
    expect(await left()).toEqual([]);
    if (isRoot) await vi.waitFor(async () => expect(await isRunning(tiny.folder)).toBe(false));
  });

  it('can be given up while another process builds', async () => {
    await tiny.endWith(HANGS);
    const builder = startBuilder();
    await untilStarted();
    const abort = new AbortController();
    const waiting = build(abort.signal);
    abort.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'image.cancelled' });
    builder.child.kill('SIGKILL');
    await builder.ended;
  });

  it.each([
    ['echo "E: Failed to fetch http://deb.debian.org/debian" >&2; exit 25', 'image.registry-down'],
    ['echo "cannot copy: No space left on device" >&2; exit 1', 'image.no-space'],
    ['echo "E: Unable to locate package giit" >&2; exit 25', 'image.build-failed'],
    ['rm "$to"/vitto-kernel/*', 'image.bad-kernel'],
  ])('that fails says why and leaves nothing: %s', async (script, code) => {
    await tiny.endWith(script);
    await expect(build()).rejects.toMatchObject({ code, hint: expect.stringMatching(/\w/) as string });
    expect(await left()).toEqual([]);
    await tiny.endWith('');
    expect(existsSync(join((await build()).folder, 'manifest.json'))).toBe(true);
  });
});
