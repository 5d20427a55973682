import { closeSync, constants, lstatSync, openSync, readdirSync, type Dirent } from 'node:fs';
import { Failure } from './failure.ts';
import { locate, openChecked, type Roots } from './locate.ts';
import { toPath, toText } from './odd-names.ts';

export interface ListCall {
  call: 'list';
  path: string;
  depth: number;
  limit: number;
  /** Base64url of the last name of the page before. */
  cursor: string | null;
}

type EntryType = 'file' | 'directory' | 'symlink' | 'other';
interface Found {
  /** Below the listed folder, as a byte string. */
  name: string;
  type: EntryType;
}

const MAX_ENTRIES = 500_000;
const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY;

/**
 * One page of a folder, sorted by the bytes of the names, links shown and not followed. A page begins after the name
 * that the page before ended with, so files that come and go meanwhile make no other entry double or missing.
 */
export function listFiles(request: ListCall, roots: Roots): object {
  const { path, asked } = locate(request.path, roots);
  const fd = openChecked(path, FOLDER, roots.readable);
  try {
    const found: Found[] = [];
    walk(fd, '', request.depth, found);
    found.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
    const after =
      request.cursor === null ? null : Buffer.from(request.cursor, 'base64url').toString('latin1');
    const start = after === null ? 0 : firstAfter(found, after);
    const page = found.slice(start, start + request.limit);
    const last = page.at(-1);
    const prefix = asked === '.' ? '' : asked === '/' ? '/' : `${toText(asked)}/`;
    return {
      entries: page.map(({ name, type }) => ({ path: prefix + toText(name), type, size: sizeOf(fd, name) })),
      total: found.length,
      nextCursor:
        last !== undefined && start + page.length < found.length
          ? toPath(last.name).toString('base64url')
          : null,
    };
  } finally {
    closeSync(fd);
  }
}

function walk(fd: number, prefix: string, depth: number, found: Found[]): void {
  for (const entry of readdirSync(`/proc/self/fd/${fd}`, { withFileTypes: true, encoding: 'buffer' })) {
    if (found.length >= MAX_ENTRIES) {
      throw new Failure(
        'too-large',
        `There are more than ${MAX_ENTRIES} entries.`,
        'List a smaller folder or fewer levels.',
      );
    }
    const name = entry.name.toString('latin1');
    const type = typeOf(entry);
    found.push({ name: prefix + name, type });
    if (type === 'directory' && depth > 1) walkInto(fd, name, prefix, depth, found);
  }
}

function walkInto(parent: number, name: string, prefix: string, depth: number, found: Found[]): void {
  let fd: number;
  try {
    fd = openSync(toPath(`/proc/self/fd/${parent}/${name}`), FOLDER | constants.O_NOFOLLOW);
  } catch {
    return; // Not readable, or gone meanwhile: it is listed, what is in it is not.
  }
  try {
    walk(fd, `${prefix}${name}/`, depth - 1, found);
  } finally {
    closeSync(fd);
  }
}

function firstAfter(sorted: Found[], name: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle]?.name ?? '') <= name) low = middle + 1;
    else high = middle;
  }
  return low;
}

function typeOf(entry: Dirent<Buffer>): EntryType {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'directory';
  return entry.isSymbolicLink() ? 'symlink' : 'other';
}

function sizeOf(fd: number, name: string): number {
  try {
    return lstatSync(toPath(`/proc/self/fd/${fd}/${name}`)).size;
  } catch {
    return 0;
  }
}
