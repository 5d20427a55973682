import { closeSync, fstatSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import { crc32 } from 'node:zlib';
import type { MemoryPart, WorkerAnswer, WorkerJob } from './memory-jobs.ts';

/** Runs in a thread: copies and checks large files, for a restore waits for it and the server must not. */

const CHUNK = 1024 * 1024;
const PAGE = 4096;
/** Shorter runs of zeros are kept as bytes: an extent of its own costs more than these. */
const MAX_GAP = 4 * PAGE;
const ZEROS = Buffer.alloc(CHUNK);

const run: { [K in WorkerJob['kind']]: (job: Extract<WorkerJob, { kind: K }>) => unknown } = {
  pack,
  unpack,
  checksum: ({ path }) => copyChecked(path, null),
  copy: ({ path, to }) => copyChecked(path, to),
};

parentPort?.on('message', ({ id, job }: { id: number; job: WorkerJob }) => {
  let answer: WorkerAnswer;
  try {
    answer = { id, result: run[job.kind](job as never) };
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    answer = { id, error: { message, code } };
  }
  parentPort?.postMessage(answer);
});

/** Writes the pages of a part of a guest's memory that are not all zeros one after another. */
function pack({ memory, from, to, target }: Extract<WorkerJob, { kind: 'pack' }>): Omit<MemoryPart, 'file'> {
  const source = openSync(memory, 'r');
  const out = openSync(target, 'wx', 0o600);
  const read = Buffer.allocUnsafe(CHUNK);
  const packed = Buffer.allocUnsafe(CHUNK);
  const chunks: MemoryPart['chunks'] = [];
  let used = 0;
  let extents: number[] = [];
  const flush = (): void => {
    if (used === 0) return;
    writeAll(out, packed.subarray(0, used), null);
    chunks.push([crc32(packed.subarray(0, used)), extents]);
    used = 0;
    extents = [];
  };
  const add = (start: number, end: number, offset: number): void => {
    for (let at = start; at < end;) {
      const length = Math.min(end - at, CHUNK - used);
      read.copy(packed, used, at, at + length);
      extents.push(offset + at, length);
      used += length;
      at += length;
      if (used === CHUNK) flush();
    }
  };
  try {
    for (let offset = from; offset < to; offset += CHUNK) {
      const length = readSync(source, read, 0, Math.min(CHUNK, to - offset), offset);
      for (const [start, end] of filledRuns(read, length)) add(start, end, offset);
    }
    flush();
    fsyncSync(out);
    return { bytes: fstatSync(out).size, chunks };
  } finally {
    closeSync(source);
    closeSync(out);
  }
}

/** Where in `bytes` something other than zeros is, in whole pages. */
function filledRuns(bytes: Buffer, length: number): [start: number, end: number][] {
  if (bytes.compare(ZEROS, 0, length, 0, length) === 0) return [];
  const runs: [number, number][] = [];
  for (let at = 0; at < length; at += PAGE) {
    const end = Math.min(at + PAGE, length);
    if (bytes.compare(ZEROS, 0, end - at, at, end) === 0) continue;
    const last = runs.at(-1);
    if (last !== undefined && at - last[1] <= MAX_GAP) last[1] = end;
    else runs.push([at, end]);
  }
  return runs;
}

/** Lays a packed part out in a memory file again. Each chunk is checked before anything of it is written. */
function unpack({ source, memory, part }: Extract<WorkerJob, { kind: 'unpack' }>): void {
  const from = openSync(source, 'r');
  const to = openSync(memory, 'r+');
  const buffer = Buffer.allocUnsafe(CHUNK);
  try {
    if (fstatSync(from).size !== part.bytes) throw new Error(`${part.file} has another length`);
    let position = 0;
    for (const [checksum, extents] of part.chunks) {
      let length = 0;
      for (let index = 1; index < extents.length; index += 2) length += extents[index] ?? 0;
      if (length > CHUNK || readSync(from, buffer, 0, length, position) !== length)
        throw new Error(`${part.file} is cut short`);
      if (crc32(buffer.subarray(0, length)) !== checksum)
        throw new Error(`${part.file} is damaged at ${position}`);
      position += length;
      let at = 0;
      for (let index = 0; index < extents.length; index += 2) {
        const size = extents[index + 1] ?? 0;
        writeAll(to, buffer.subarray(at, at + size), extents[index] ?? 0);
        at += size;
      }
    }
  } finally {
    closeSync(from);
    closeSync(to);
  }
}

/** Reads a file, and writes it to another when there is one; what is all zeros stays a hole there. */
function copyChecked(path: string, target: string | null): { bytes: number; crc: number } {
  const from = openSync(path, 'r');
  const to = target === null ? null : openSync(target, 'r+');
  const buffer = Buffer.allocUnsafe(CHUNK);
  let bytes = 0;
  let crc = 0;
  try {
    for (;;) {
      const length = readSync(from, buffer, 0, CHUNK, bytes);
      if (length === 0) return { bytes, crc };
      const chunk = buffer.subarray(0, length);
      crc = crc32(chunk, crc);
      if (to !== null && chunk.compare(ZEROS, 0, length) !== 0) writeAll(to, chunk, bytes);
      bytes += length;
    }
  } finally {
    closeSync(from);
    if (to !== null) closeSync(to);
  }
}

/** A nearly full disk takes a part of what is written, and says so only at the next write. */
function writeAll(file: number, bytes: Uint8Array, position: number | null): void {
  for (let done = 0; done < bytes.length;) {
    done += writeSync(file, bytes, done, bytes.length - done, position === null ? null : position + done);
  }
}
