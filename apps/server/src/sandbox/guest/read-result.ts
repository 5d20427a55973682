import type { ReadFileRequest, ReadFileResult } from '@vitto/contracts';
import { clamp, MAX_FILE_BYTES } from './command-checks.ts';
import { isBinary, withoutCutEnd } from './captured-output.ts';

const DEFAULT_BYTES = 256 * 1024;

/** Which bytes of a file are asked for. */
export function readRange(request: ReadFileRequest): { offset: number; length: number } {
  return {
    offset: clamp(request.offset ?? 0, 0, Number.MAX_SAFE_INTEGER),
    length: clamp(request.length ?? DEFAULT_BYTES, 0, MAX_FILE_BYTES),
  };
}

/** A part of a file as callers get it: text does not end within a character while more follows. */
export function readResult(
  body: Buffer,
  { offset, encoding, size, sha256 }: Pick<ReadFileResult, 'offset' | 'size' | 'sha256'> & ReadEncoding,
): ReadFileResult {
  const isCut = offset + body.length < size;
  const part = isCut && encoding === 'utf8' ? withoutCutEnd(body) : body;
  return {
    content: part.toString(encoding),
    size,
    offset,
    bytes: part.length,
    truncated: offset > 0 || isCut,
    binary: isBinary(part),
    sha256,
  };
}

type ReadEncoding = Pick<ReadFileRequest, 'encoding'>;
