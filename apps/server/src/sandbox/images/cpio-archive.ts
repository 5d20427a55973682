/** What a kernel unpacks as its first file system: folders and files, in this order, folders before what is in them. */
export type CpioEntry =
  { path: string; mode: number; content: Uint8Array } | { path: string; mode: number; content: null };

const FOLDER = 0o040000;
const FILE = 0o100000;
const TRAILER = 'TRAILER!!!';

/** An archive in cpio's "newc" format, owned by root, without times: the same entries are the same bytes. */
export function makeCpio(entries: readonly CpioEntry[]): Buffer {
  const parts = entries.flatMap(({ path, mode, content }, at) =>
    entry(path, (content === null ? FOLDER : FILE) | mode, at + 1, content ?? new Uint8Array()),
  );
  return Buffer.concat([...parts, ...entry(TRAILER, 0, 0, new Uint8Array())]);
}

function entry(path: string, mode: number, inode: number, content: Uint8Array): Uint8Array[] {
  const name = Buffer.from(`${path}\0`);
  const links = 1;
  // inode, mode, uid, gid, links, mtime, size, device (2), special device (2), length of the name, checksum
  const numbers = [inode, mode, 0, 0, links, 0, content.length, 0, 0, 0, 0, name.length, 0];
  const header = `070701${numbers.map((number) => number.toString(16).toUpperCase().padStart(8, '0')).join('')}`;
  const head = Buffer.concat([Buffer.from(header), name]);
  return [head, padding(head.length), content, padding(content.length)];
}

function padding(length: number): Uint8Array {
  return new Uint8Array((4 - (length % 4)) % 4);
}
