import { isUtf8 } from 'node:buffer';

/**
 * File names are bytes. Inside the guest they are handled as byte strings (one character a byte, "latin1"); outside
 * they are text in which `\xNN` stands for a byte that is not part of valid UTF-8, for a control or direction
 * character, for a space at either end of a name, and for the backslash itself. Other backslashes that come in mean
 * themselves.
 */

// eslint-disable-next-line no-control-regex
const MISLEADING = /[\u0000-\u001f\u007f-\u009f\\\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/gu;

/** A byte-string path as text that `toBytes` turns back into the same bytes. */
export function toText(path: string): string {
  return path.split('/').map(nameToText).join('/');
}

/** Text as given by a caller, as a byte string. */
export function toBytes(text: string): string {
  const bytes = Buffer.from(text, 'utf8').toString('latin1');
  return bytes.replace(/\\x([0-9a-fA-F]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

/** A byte string as Node.js takes it for a path. */
export function toPath(bytes: string): Buffer {
  return Buffer.from(bytes, 'latin1');
}

function nameToText(name: string): string {
  // The common case needs no look at single bytes.
  const plain = /^[!-[\]-~](?:[ -[\]-~]*[!-[\]-~])?$/.test(name);
  if (plain || name === '') return name;
  const bytes = toPath(name);
  const text = isUtf8(bytes) ? escapeMisleading(bytes.toString('utf8')) : escapeInvalid(bytes);
  return text.replace(/^ | $/g, '\\x20');
}

function escapeInvalid(bytes: Buffer): string {
  let text = '';
  for (let index = 0; index < bytes.length;) {
    const size = sequenceSize(bytes[index] ?? 0);
    const part = bytes.subarray(index, index + size);
    if (part.length === size && isUtf8(part)) {
      text += escapeMisleading(part.toString('utf8'));
      index += size;
    } else {
      text += escapeByte(bytes[index] ?? 0);
      index += 1;
    }
  }
  return text;
}

function escapeMisleading(text: string): string {
  return text.replace(MISLEADING, (character) =>
    [...Buffer.from(character, 'utf8')].map(escapeByte).join(''),
  );
}

function escapeByte(byte: number): string {
  return `\\x${byte.toString(16).padStart(2, '0')}`;
}

function sequenceSize(lead: number): number {
  if (lead >= 0xf0) return 4;
  if (lead >= 0xe0) return 3;
  return lead >= 0xc0 ? 2 : 1;
}
