/** How a guest's refusals of file calls are worded, whatever guest it is. */
export const FAILURES = {
  'bad-path': { message: 'The path is too long, loops or is not valid.' },
  'not-found': { message: 'There is no such file or folder.' },
  'not-a-file': { message: 'The path is not a regular file.' },
  'not-a-directory': { message: 'The path, or a part of it, is not a folder.' },
  'read-only': {
    message: 'This folder may be read but not written.',
    hint: 'Write in the home folder or in /tmp.',
  },
  denied: { message: 'The permissions of the file or folder do not allow this.' },
  'too-large': { message: 'The file would be larger than the sandbox allows.' },
  'no-space': { message: 'There is no room left.', hint: 'Remove files that are no longer needed.' },
  changed: {
    message: 'The file is not as it was when it was read.',
    hint: 'Read it again before writing it.',
  },
} as const satisfies Record<string, { message: string; hint?: string }>;
export type FailureCode = keyof typeof FAILURES;
