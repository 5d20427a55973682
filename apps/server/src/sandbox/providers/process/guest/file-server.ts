import { readSync, writeSync } from 'node:fs';
import { toBytes } from '../../../guest/odd-names.ts';
import { Failure, toFailure } from './failure.ts';
import { listFiles, type ListCall } from './list-files.ts';
import type { Roots } from './locate.ts';
import { readFile, type ReadCall } from './read-file.ts';
import { searchFiles, type SearchCall } from './search-files.ts';
import { writeFile, type WriteCall } from './write-file.ts';

/** One line of JSON, and after it the content of a file to write. */
export type FileCall = ReadCall | WriteCall | ListCall | SearchCall;
export interface FileRequest {
  roots: { home: string; writable: string[]; readable: string[] };
  call: FileCall;
}

/**
 * Answers one file call inside the sandbox, as the sandbox's user: whatever tricks are played with links, the host's
 * files are not there to be reached. Reads the request from stdin; answers with a line of JSON and the bytes of a
 * file that was read.
 */
async function main(): Promise<void> {
  const input = readAll();
  const cut = input.indexOf(0x0a);
  const { roots, call } = JSON.parse(input.subarray(0, cut).toString('utf8')) as FileRequest;
  try {
    const { head, body } = await answer(call, toByteRoots(roots), input.subarray(cut + 1));
    reply({ ok: true, ...head }, body);
  } catch (error) {
    const failure = toFailure(error);
    if (!(failure instanceof Failure)) throw error;
    reply({ ok: false, code: failure.code, message: failure.message, hint: failure.hint });
  }
}

async function answer(
  call: FileCall,
  roots: Roots,
  content: Buffer,
): Promise<{ head: object; body?: Buffer }> {
  switch (call.call) {
    case 'read':
      return readFile(call, roots);
    case 'write':
      return { head: writeFile(call, content, roots) };
    case 'list':
      return { head: listFiles(call, roots) };
    case 'search':
      return { head: await searchFiles(call, roots) };
  }
}

function toByteRoots({ home, writable, readable }: FileRequest['roots']): Roots {
  return { home: toBytes(home), writable: writable.map(toBytes), readable: readable.map(toBytes) };
}

function readAll(): Buffer {
  const chunks: Buffer[] = [];
  const buffer = Buffer.alloc(1024 * 1024);
  for (;;) {
    const count = readSync(0, buffer);
    if (count === 0) return Buffer.concat(chunks);
    chunks.push(Buffer.from(buffer.subarray(0, count)));
  }
}

function reply(head: object, body: Buffer = Buffer.alloc(0)): void {
  for (const bytes of [Buffer.from(`${JSON.stringify(head)}\n`), body]) {
    for (let sent = 0; sent < bytes.length;) sent += writeSync(1, bytes, sent);
  }
}

await main();
