import type { ListFilesResult } from '@vitto/contracts';
import { MAX_ENTRIES } from '../list-page.ts';
import { ProtocolError } from './frame-codec.ts';
import { PayloadReader } from './payload.ts';

type EntryType = ListFilesResult['entries'][number]['type'];
export interface Entry {
  /** Below the listed folder, as a byte string. */
  name: string;
  type: EntryType;
  size: number;
}

/** Type, size and length of the name. */
const HEAD_BYTES = 13;
const MAX_NAME_BYTES = 65_536;
/** Of all names together: half a million of them are seldom a tenth of it. */
const MAX_BYTES = 256 * 1024 * 1024;
const TYPES: Record<string, EntryType> = { f: 'file', d: 'directory', l: 'symlink' };

/** Reads the entries of a listing from the bytes that they come in, wherever those are cut. */
export class EntryReader {
  readonly #entries: Entry[] = [];
  #carry: Buffer = Buffer.alloc(0);
  #bytes = 0;

  get isTooLarge(): boolean {
    return this.#entries.length > MAX_ENTRIES || this.#bytes > MAX_BYTES;
  }

  /** @throws ProtocolError */
  push(chunk: Buffer): void {
    this.#bytes += chunk.length;
    const bytes = this.#carry.length === 0 ? chunk : Buffer.concat([this.#carry, chunk]);
    let at = 0;
    while (bytes.length - at >= HEAD_BYTES) {
      const nameBytes = bytes.readUInt32LE(at + HEAD_BYTES - 4);
      if (nameBytes === 0 || nameBytes > MAX_NAME_BYTES)
        throw new ProtocolError('a name has no likely length');
      const end = at + HEAD_BYTES + nameBytes;
      if (end > bytes.length) break;
      this.#entries.push(readEntry(bytes.subarray(at, end)));
      at = end;
    }
    this.#carry = Buffer.from(bytes.subarray(at));
  }

  /** @throws ProtocolError when the last entry is not whole. */
  finish(): Entry[] {
    if (this.#carry.length > 0) throw new ProtocolError('a listing ends within an entry');
    return this.#entries;
  }
}

function readEntry(bytes: Buffer): Entry {
  const reader = new PayloadReader(bytes);
  return {
    type: TYPES[String.fromCharCode(reader.u8())] ?? 'other',
    size: reader.u64(),
    name: reader.str().toString('latin1'),
  };
}
