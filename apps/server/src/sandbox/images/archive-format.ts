import { AppError } from '../../kernel/app-error.ts';

/**
 * The outer form of an image file: a tar (ustar) of plain files. Read strictly: every name, kind and size that is not
 * expected is refused, so nothing in such a file says where anything is written.
 */
export const BLOCK = 512;
/** What the size field of a header can say: 11 octal digits. */
const LARGEST = 8 ** 11 - 1;

export function makeHeader(name: string, size: number): Buffer {
  if (Buffer.byteLength(name) > 99 || size > LARGEST) throw new RangeError(`${name} does not fit an archive`);
  const header = Buffer.alloc(BLOCK);
  header.write(name, 0, 'latin1');
  header.write('0000644\0', 100, 'latin1');
  header.write('0000000\0', 108, 'latin1');
  header.write('0000000\0', 116, 'latin1');
  header.write(`${size.toString(8).padStart(11, '0')}\0`, 124, 'latin1');
  header.write('00000000000\0', 136, 'latin1');
  header.write('0', 156, 'latin1');
  header.write('ustar\x0000', 257, 'latin1');
  header.write(`${checksum(header).toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return header;
}

/** The name and size that a header says; `null` for the end of the archive. @throws AppError `image.bad-file` */
export function readHeader(header: Buffer): { name: string; size: number } | null {
  if (header.every((byte) => byte === 0)) return null;
  if (header.toString('latin1', 257, 262) !== 'ustar') throw badFile('it is no archive of an image');
  if (readOctal(header, 148, 8) !== checksum(header)) throw badFile('a header in it is damaged');
  const name = readText(header, 0, 100);
  const kind = String.fromCharCode(header[156] ?? 0);
  // Links, folders, devices, long names: none of it is in an image.
  if (kind !== '0' && kind !== '\0') throw badFile(`"${name.slice(0, 60)}" in it is not a plain file`);
  if (readText(header, 345, 155) !== '' || !/^[a-z0-9.-]+$/.test(name)) {
    throw badFile(`"${name.slice(0, 60)}" is no name of a part of an image`);
  }
  return { name, size: readOctal(header, 124, 12) };
}

export function paddingOf(size: number): number {
  return (BLOCK - (size % BLOCK)) % BLOCK;
}

export function badFile(why: string): AppError {
  return new AppError('image.bad-file', `This file cannot be imported: ${why}.`, {
    hint: 'Take it again from the host that exported it (`vitto image export`); compare the sizes.',
  });
}

function readText(header: Buffer, at: number, length: number): string {
  const field = header.subarray(at, at + length);
  const end = field.indexOf(0);
  return field.toString('latin1', 0, end < 0 ? length : end);
}

function readOctal(header: Buffer, at: number, length: number): number {
  const text = readText(header, at, length).trim();
  if (!/^[0-7]{1,11}$/.test(text)) throw badFile('a number in it cannot be read');
  return Number.parseInt(text, 8);
}

/** The sum of the header's bytes, with blanks where the sum itself stands. */
function checksum(header: Buffer): number {
  return header.reduce((sum, byte, at) => sum + (at >= 148 && at < 156 ? 32 : byte), 0);
}
