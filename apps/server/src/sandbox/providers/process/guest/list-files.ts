import { closeSync, constants, lstatSync, openSync, readdirSync, type Dirent } from 'node:fs';
import { folderPrefix } from '../../../guest/asked-path.ts';
import { MAX_ENTRIES, pageOf } from '../../../guest/list-page.ts';
import { toPath, toText } from '../../../guest/odd-names.ts';
import { Failure } from './failure.ts';
import { locate, openChecked, type Roots } from './locate.ts';

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

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY;

/** One page of a folder (see `pageOf`), links shown and not followed. */
export function listFiles(request: ListCall, roots: Roots): object {
  const { path, asked } = locate(request.path, roots);
  const fd = openChecked(path, FOLDER, roots.readable);
  try {
    const found: Found[] = [];
    walk(fd, '', request.depth, found);
    const { page, nextCursor } = pageOf(found, request.cursor, request.limit);
    const prefix = folderPrefix(asked);
    return {
      entries: page.map(({ name, type }) => ({ path: toText(prefix + name), type, size: sizeOf(fd, name) })),
      total: found.length,
      nextCursor,
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
