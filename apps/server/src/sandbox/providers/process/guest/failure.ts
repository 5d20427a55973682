import { FAILURES, type FailureCode } from '../../../guest/failure-words.ts';

/** An expected refusal; `code` is one of the contract's `GuestErrorCode`. */
export class Failure extends Error {
  readonly code: string;
  readonly hint: string | undefined;
  constructor(code: string, message: string, hint?: string) {
    super(message);
    this.code = code;
    this.hint = hint;
  }
}

/** One error for every path that leads out: it does not tell whether anything is there. */
export function outside(): Failure {
  return new Failure(
    'outside',
    'The path is outside the folders that may be used.',
    'Use paths in the home folder, in /tmp, or in a folder that the user allowed.',
  );
}

const CODES: Record<string, FailureCode> = {
  ENOENT: 'not-found',
  ENOTDIR: 'not-a-directory',
  EISDIR: 'not-a-file',
  ENXIO: 'not-a-file',
  EACCES: 'denied',
  EPERM: 'denied',
  EROFS: 'read-only',
  ENOSPC: 'no-space',
  EDQUOT: 'no-space',
  EFBIG: 'too-large',
  ENAMETOOLONG: 'bad-path',
  ELOOP: 'bad-path',
  EINVAL: 'bad-path',
};

/** What a system call's error means to the caller; errors that mean a defect are passed through. */
export function toFailure(error: unknown): unknown {
  if (error instanceof Failure) return error;
  const code = CODES[(error as NodeJS.ErrnoException).code ?? ''];
  return code === undefined ? error : failure(code);
}

export function failure(code: FailureCode): Failure {
  const { message, hint }: { message: string; hint?: string } = FAILURES[code];
  return new Failure(code, message, hint);
}
