import { createHash } from 'node:crypto';
import { GuestError } from '@vitto/contracts';
import { ByteQueue } from '../byte-queue.ts';
import { fileCallMs } from '../command-checks.ts';
import { MAX_ENTRIES } from '../list-page.ts';
import { EntryReader, type Entry } from './entry-reader.ts';
import { ProtocolError } from './frame-codec.ts';
import { TO_GUEST, TO_HOST } from './frame-types.ts';
import { str, u32, u64, u8 } from './payload.ts';
import { withLimit, type CallLink } from './with-limit.ts';

const AS_THE_FILE_HAS_IT = 0xffff_ffff;
/** A folder of half a million files takes its time. */
const LIST_MS = 60_000;

/** File calls of the protocol. Paths are absolute byte strings; all reject with GuestError or the signal's reason. */

export interface FilePart {
  body: Buffer;
  /** Of the whole file. */
  size: number;
  /** SHA-256 of the file when the part is the whole. */
  sha256: string | null;
}

export function readGuestFile(
  link: CallLink,
  path: Buffer,
  {
    offset,
    length,
    flags = 0,
    signal,
  }: { offset: number; length: number; flags?: number; signal?: AbortSignal | undefined },
): Promise<FilePart> {
  return withLimit(link, { limitMs: fileCallMs(length), signal }, async (channel) => {
    channel.send(TO_GUEST.read, Buffer.concat([u8(flags), str(path), u64(offset), u64(length)]));
    const size = (await channel.expect(TO_HOST.file)).u64();
    const bytes = new ByteQueue();
    for (;;) {
      const frame = await channel.next();
      if (frame.type === TO_HOST.end) break;
      if (frame.type === TO_HOST.fail) throw channel.failure(frame);
      if (frame.type !== TO_HOST.data) throw new ProtocolError(`a file call is told a ${frame.type}`);
      bytes.push(frame.payload);
      if (bytes.size > length) throw new ProtocolError('more of a file than was asked for');
    }
    const body = bytes.concat();
    const isWhole = offset === 0 && body.length === size;
    return { body, size, sha256: isWhole ? createHash('sha256').update(body).digest('hex') : null };
  });
}

/** @param expected the SHA-256 that the file must have now, or `'absent'`. */
export function writeGuestFile(
  link: CallLink,
  path: Buffer,
  content: Buffer,
  {
    mode,
    expected,
    signal,
  }: { mode: number | undefined; expected: string | undefined; signal?: AbortSignal | undefined },
): Promise<{ created: boolean }> {
  return withLimit(link, { limitMs: fileCallMs(content.length), signal }, async (channel) => {
    const expectation = expected === undefined ? 0 : expected === 'absent' ? 2 : 1;
    const head = [
      u8(0),
      str(path),
      u32(mode ?? AS_THE_FILE_HAS_IT),
      u8(expectation),
      Buffer.concat([expectation === 1 ? Buffer.from(expected ?? '', 'hex') : Buffer.alloc(0)], 32),
      u64(content.length),
    ];
    channel.send(TO_GUEST.write, Buffer.concat(head));
    // A guest that refuses takes no more: its answer says why.
    channel.sendData(TO_GUEST.content, content).catch(() => undefined);
    return { created: (await channel.expect(TO_HOST.written)).u8() !== 0 };
  });
}

/** All entries below a folder, in no order; names are byte strings below it. */
export function listGuestFolder(
  link: CallLink,
  path: Buffer,
  { depth, signal }: { depth: number; signal?: AbortSignal | undefined },
): Promise<Entry[]> {
  return withLimit(link, { limitMs: LIST_MS, signal }, async (channel) => {
    channel.send(TO_GUEST.list, Buffer.concat([str(path), u32(depth)]));
    const reader = new EntryReader();
    for (;;) {
      const frame = await channel.next();
      if (frame.type === TO_HOST.end) return reader.finish();
      if (frame.type === TO_HOST.fail) throw channel.failure(frame);
      if (frame.type !== TO_HOST.entries) throw new ProtocolError(`a listing is told a ${frame.type}`);
      reader.push(frame.payload);
      if (reader.isTooLarge) {
        const error = tooManyEntries();
        channel.giveUp(error);
        throw error;
      }
    }
  });
}

function tooManyEntries(): GuestError {
  return new GuestError(
    'too-large',
    `There are more than ${MAX_ENTRIES} entries.`,
    'List a smaller folder or fewer levels.',
  );
}
