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

/** What a system call's error means to the caller; errors that mean a defect are passed through. */
export function toFailure(error: unknown): unknown {
  if (error instanceof Failure) return error;
  switch ((error as NodeJS.ErrnoException).code) {
    case 'ENOENT':
      return new Failure('not-found', 'There is no such file or folder.');
    case 'ENOTDIR':
      return new Failure('not-a-directory', 'A part of the path is not a folder.');
    case 'EISDIR':
      return new Failure('not-a-file', 'The path is a folder.');
    case 'EACCES':
    case 'EPERM':
      return new Failure('denied', 'The permissions of the file or folder do not allow this.');
    case 'EROFS':
      return readOnly();
    case 'ENOSPC':
    case 'EDQUOT':
      return new Failure('no-space', 'There is no room left.');
    case 'EFBIG':
      return new Failure('too-large', 'The file would be larger than the sandbox allows.');
    case 'ENAMETOOLONG':
    case 'ELOOP':
    case 'EINVAL':
      return new Failure('bad-path', 'The path is too long, loops or is not valid.');
    case 'ENXIO':
      return new Failure('not-a-file', 'The path is not a regular file.');
    default:
      return error;
  }
}

export function readOnly(): Failure {
  return new Failure(
    'read-only',
    'This folder may be read but not written.',
    'Write in the home folder or in /tmp.',
  );
}
