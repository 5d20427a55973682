import { createHash } from 'node:crypto';
import type { CapturedOutput, CommandRecord } from '@vitto/contracts';
import { HEAD_BYTES, OutputCapture, TAIL_BYTES } from '../captured-output.ts';
import { FLAG, TO_GUEST, TO_HOST } from './frame-types.ts';
import { readGuestFile, type FilePart } from './guest-files.ts';
import { readRecordState, type RecordState } from './outcome.ts';
import { str, u32 } from './payload.ts';
import { withLimit, type CallLink } from './with-limit.ts';

/** Where the guest keeps records. */
export const RECORDS_FOLDER = '/var/lib/vitto/commands';
const CALL_MS = 10_000;

export type RecordedStream = 'stdout' | 'stderr';

/** Name of the record of a tool call. Calls are told apart within their task only, and their ids may be anything. */
export function callRecordName(taskId: string | null, callId: string): string {
  return `c-${createHash('sha256')
    .update(`${taskId ?? ''}\0${callId}`)
    .digest('hex')
    .slice(0, 48)}`;
}

/** @throws GuestError */
export function readRecord(link: CallLink, name: string, signal?: AbortSignal): Promise<RecordState> {
  return withLimit(link, { limitMs: CALL_MS, signal }, async (channel) => {
    channel.send(TO_GUEST.record, str(name));
    return readRecordState(await channel.expect(TO_HOST.recordState));
  });
}

/** Ends what runs under a record and waits until it has. */
export function stopRecord(
  link: CallLink,
  name: string,
  graceMs: number,
  signal?: AbortSignal,
): Promise<RecordState> {
  return withLimit(link, { limitMs: CALL_MS + graceMs, signal }, async (channel) => {
    channel.send(TO_GUEST.stopRecord, Buffer.concat([str(name), u32(graceMs)]));
    return readRecordState(await channel.expect(TO_HOST.recordState));
  });
}

/** Bytes of what a record keeps of a stream. */
export function readRecorded(
  link: CallLink,
  file: string,
  range: { offset: number; length: number; signal?: AbortSignal | undefined },
): Promise<FilePart> {
  return readGuestFile(link, Buffer.from(file), { ...range, flags: FLAG.root });
}

/** What became of a command, with what it printed once it has ended. */
export async function readCommandRecord(
  link: CallLink,
  folder: string,
  name: string,
  signal?: AbortSignal,
): Promise<CommandRecord> {
  const { state, outcome } = await readRecord(link, name, signal);
  const { exitCode, signal: endSignal, timedOut, stdoutBytes, stderrBytes, durationMs } = outcome;
  const hasEnded = state === 'ended';
  const record = {
    state,
    exitCode: hasEnded ? exitCode : null,
    signal: hasEnded ? endSignal : null,
    timedOut,
    stdoutBytes,
    stderrBytes,
    durationMs,
  };
  if (!hasEnded && state !== 'cut-short') return record;
  const read = (stream: RecordedStream, total: number): Promise<CapturedOutput> =>
    readCaptured(link, `${folder}/${name}/${stream}`, total, signal);
  const output = { stdout: await read('stdout', stdoutBytes), stderr: await read('stderr', stderrBytes) };
  return { ...record, output };
}

/**
 * Head and tail of a recorded stream. Of a long one the record itself keeps only the first and the last part.
 * @param total bytes that the command printed, where the record knows.
 */
async function readCaptured(
  link: CallLink,
  file: string,
  total: number,
  signal: AbortSignal | undefined,
): Promise<CapturedOutput> {
  const capture = new OutputCapture();
  const head = await readRecorded(link, file, { offset: 0, length: HEAD_BYTES, signal });
  capture.push(head.body);
  const rest = head.size - head.body.length;
  if (rest > 0) {
    const tailBytes = Math.min(TAIL_BYTES, rest);
    const skipped = Math.max(total, head.size) - head.body.length - tailBytes;
    if (skipped > 0) capture.skip(skipped);
    const tail = await readRecorded(link, file, { offset: head.size - tailBytes, length: tailBytes, signal });
    capture.push(tail.body);
  }
  return capture.finish();
}
