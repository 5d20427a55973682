import { closeSync, constants, lstatSync, openSync, readlinkSync } from 'node:fs';
import { askedPath, normalise } from '../../../guest/asked-path.ts';
import { toBytes, toPath } from '../../../guest/odd-names.ts';
import { Failure, failure, outside } from './failure.ts';

/** The folders that file calls may touch, as byte strings. */
export interface Roots {
  home: string;
  writable: string[];
  readable: string[];
}

export interface Located {
  /** Absolute, every link resolved as far as things exist. */
  path: string;
  /** Absolute or relative as it was asked for, tidied, for names in replies. */
  asked: string;
}

const MAX_LINKS = 40;

/**
 * Finds where a path leads. Refuses with `outside` whatever ends up out of the roots, before saying whether it
 * exists. The answer may be stale by the time it is used: whoever opens it checks again by `openChecked`.
 */
export function locate(text: string, roots: Roots): Located {
  const bytes = toBytes(text);
  if (bytes === '') throw new Failure('bad-path', 'The path is empty.', 'Use "." for the home folder.');
  if (bytes.includes('\0')) throw new Failure('bad-path', 'The path holds a NUL byte.');
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(bytes)) throw outside();
  const absolute = bytes.startsWith('/') ? bytes : `${roots.home}/${bytes}`;
  if (!isInside(normalise(absolute), roots.readable)) throw outside();
  const path = resolveLinks(absolute);
  if (!isInside(path, roots.readable)) throw outside();
  return { path, asked: askedPath(bytes, roots.home) };
}

/** Opens what `locate` found and makes sure, by the open file itself, that it is in the roots. The caller closes it. */
export function openChecked(path: string, flags: number, roots: string[]): number {
  const fd = openSync(toPath(path), flags | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY);
  try {
    checkOpen(fd, roots);
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

export function checkOpen(fd: number, roots: string[]): void {
  const real = readlinkSync(toPath(`/proc/self/fd/${fd}`), 'buffer').toString('latin1');
  if (!isInside(real, roots)) throw outside();
}

/** Refuses paths that may only be read. */
export function assertWritable(path: string, roots: Roots): void {
  if (!isInside(path, roots.writable)) throw failure('read-only');
  // A read-only folder may be mounted below a writable one.
  const deepest = [...roots.readable]
    .sort((a, b) => b.length - a.length)
    .find((root) => isInside(path, [root]));
  if (deepest !== undefined && !roots.writable.includes(deepest)) throw failure('read-only');
}

export function isInside(path: string, roots: string[]): boolean {
  return roots.some((root) => path === root || path.startsWith(`${root}/`));
}

function resolveLinks(absolute: string): string {
  const todo = absolute.split('/').reverse();
  let resolved = '';
  let links = 0;
  let isMissing = false;
  while (todo.length > 0) {
    const part = todo.pop() ?? '';
    if (part === '' || part === '.') continue;
    if (part === '..') {
      resolved = resolved.slice(0, Math.max(0, resolved.lastIndexOf('/')));
      continue;
    }
    const next = `${resolved}/${part}`;
    const target = isMissing ? null : linkTarget(next);
    if (target === 'missing') isMissing = true;
    if (target === null || target === 'missing') {
      resolved = next;
      continue;
    }
    links += 1;
    if (links > MAX_LINKS) throw new Failure('bad-path', 'The path goes through too many links.');
    if (target.to.startsWith('/')) resolved = '';
    todo.push(...target.to.split('/').reverse());
  }
  return resolved === '' ? '/' : resolved;
}

function linkTarget(path: string): { to: string } | 'missing' | null {
  try {
    if (!lstatSync(toPath(path)).isSymbolicLink()) return null;
    return { to: readlinkSync(toPath(path), 'buffer').toString('latin1') };
  } catch {
    return 'missing';
  }
}
