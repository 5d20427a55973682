import { createHash, randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fchmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  unlinkSync,
  writeSync,
  type Stats,
} from 'node:fs';
import { toPath, toText } from '../../../guest/odd-names.ts';
import { Failure, failure } from './failure.ts';
import { assertWritable, checkOpen, locate, openChecked, type Roots } from './locate.ts';

export interface WriteCall {
  call: 'write';
  path: string;
  mode: number | null;
  expectSha256: string | null;
}

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY;

/**
 * Writes a file whole or not at all: into a new file beside it, which then takes its name. Every step goes through
 * the open parent folder, so swapping a folder for a link meanwhile leads nowhere.
 */
export function writeFile(request: WriteCall, content: Buffer, roots: Roots): object {
  const { path, asked } = locate(request.path, roots);
  assertWritable(path, roots);
  if (roots.readable.includes(path)) throw new Failure('not-a-file', 'The path is a folder.');
  const cut = path.lastIndexOf('/');
  const folder = openFolder(path.slice(0, cut), roots);
  try {
    const target = inFolder(folder, path.slice(cut + 1));
    const before = statOrNull(target);
    if (before?.isDirectory() === true) throw new Failure('not-a-file', 'The path is a folder.');
    assertExpected(request.expectSha256, target, before);
    const mode = request.mode ?? (before?.isFile() === true ? before.mode & 0o777 : 0o644);
    replace(folder, target, content, mode & 0o777, request.expectSha256 === 'absent');
    return { path: toText(asked), bytes: content.length, created: before === null };
  } finally {
    closeSync(folder);
  }
}

/** Opens a folder, making what is missing of it, one checked level after the other. */
function openFolder(path: string, roots: Roots): number {
  const root =
    roots.readable
      .filter((each) => path === each || path.startsWith(`${each}/`))
      .sort((a, b) => b.length - a.length)[0] ?? '';
  let fd = openChecked(root, FOLDER, roots.writable);
  for (const name of path.slice(root.length).split('/')) {
    if (name === '') continue;
    const next = inFolder(fd, name);
    try {
      makeFolder(next);
      const deeper = openSync(next, FOLDER | constants.O_NOFOLLOW);
      closeSync(fd);
      fd = deeper;
      checkOpen(fd, roots.writable);
    } catch (error) {
      closeSync(fd);
      throw error;
    }
  }
  return fd;
}

function makeFolder(path: Buffer): void {
  try {
    mkdirSync(path, 0o755);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

function replace(folder: number, target: Buffer, content: Buffer, mode: number, mustBeNew: boolean): void {
  const temporary = inFolder(folder, `.vitto-${randomBytes(8).toString('hex')}.tmp`);
  const fd = openSync(
    temporary,
    constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
    0o600,
  );
  try {
    try {
      for (let written = 0; written < content.length;) written += writeSync(fd, content, written);
      fchmodSync(fd, mode);
    } finally {
      closeSync(fd);
    }
    if (!mustBeNew) renameSync(temporary, target);
    else linkSync(temporary, target);
  } catch (error) {
    unlinkSync(temporary);
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw failure('changed');
    throw error;
  }
  if (mustBeNew) unlinkSync(temporary);
}

function assertExpected(expected: string | null, target: Buffer, before: Stats | null): void {
  if (expected === null) return;
  if (expected === 'absent') {
    if (before !== null) throw failure('changed');
    return;
  }
  if (before?.isFile() !== true) throw failure('changed');
  const fd = openSync(target, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    if (createHash('sha256').update(readFileSync(fd)).digest('hex') !== expected) throw failure('changed');
  } finally {
    closeSync(fd);
  }
}

function statOrNull(path: Buffer): Stats | null {
  try {
    return lstatSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

function inFolder(fd: number, name: string): Buffer {
  return toPath(`/proc/self/fd/${fd}/${name}`);
}
