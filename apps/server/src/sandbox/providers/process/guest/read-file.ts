import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, readSync } from 'node:fs';
import { failure } from './failure.ts';
import { locate, openChecked, type Roots } from './locate.ts';

export interface ReadCall {
  call: 'read';
  path: string;
  offset: number;
  length: number;
}

/** Reads a part of a regular file. The SHA-256 is given when the part is the whole. */
export function readFile(request: ReadCall, roots: Roots): { head: object; body: Buffer } {
  const { path } = locate(request.path, roots);
  const fd = openChecked(path, constants.O_RDONLY, roots.readable);
  try {
    const stats = fstatSync(fd);
    if (!stats.isFile()) throw failure('not-a-file');
    const wanted = Math.max(0, Math.min(request.length, stats.size - request.offset));
    const body = Buffer.alloc(wanted);
    let read = 0;
    while (read < wanted) {
      const count = readSync(fd, body, read, wanted - read, request.offset + read);
      if (count === 0) break;
      read += count;
    }
    const part = body.subarray(0, read);
    const isWhole = request.offset === 0 && read === stats.size;
    const sha256 = isWhole ? createHash('sha256').update(part).digest('hex') : null;
    return { head: { size: stats.size, bytes: read, sha256 }, body: part };
  } finally {
    closeSync(fd);
  }
}
