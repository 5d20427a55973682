import { GuestError } from '@vitto/contracts';

/** Linux takes no longer argument (MAX_ARG_STRLEN, less a margin). */
const MAX_COMMAND_BYTES = 120 * 1024;
export const MAX_STDIN_BYTES = 16 * 1024 * 1024;
/** The largest file that one call reads or writes. */
export const MAX_FILE_BYTES = 64 * 1024 * 1024;
/** What a file call may take, without what its bytes take. */
const FILE_CALL_MS = 10_000;

/** Refuses what cannot be an argument. */
export function assertCommand(command: string): void {
  if (Buffer.byteLength(command) > MAX_COMMAND_BYTES) {
    throw new GuestError(
      'too-large',
      'The command is too long.',
      'Write it to a file with write_file and run that.',
    );
  }
  if (command.includes('\0')) throw new GuestError('bad-path', 'The command holds a NUL byte.');
}

/** `NAME=value` lines; refuses names that are none. */
export function environmentLines(env: Record<string, string> = {}): string[] {
  return Object.entries(env).map(([name, value]) => {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) || value.includes('\0')) {
      throw new GuestError('bad-path', `Not an environment variable: ${JSON.stringify(name)}`);
    }
    return `${name}=${value}`;
  });
}

export function stdinBytes(text: string): Buffer {
  const bytes = Buffer.from(text);
  if (bytes.length <= MAX_STDIN_BYTES) return bytes;
  throw new GuestError('too-large', 'The standard input is too long.', 'Write it to a file.');
}

/** Refuses early what could not even be passed on. */
export function assertPlainPath(path: string): void {
  if (path === '') throw new GuestError('bad-path', 'The path is empty.', 'Use "." for the home folder.');
  if (path.includes('\0')) throw new GuestError('bad-path', 'The path holds a NUL byte.');
}

/** The bytes of a file to write. @param maxBytes of the guest. */
export function contentBytes(content: string, encoding: 'utf8' | 'base64', maxBytes: number): Buffer {
  const bytes = Buffer.from(content, encoding);
  if (bytes.length <= Math.min(MAX_FILE_BYTES, maxBytes)) return bytes;
  throw new GuestError(
    'too-large',
    `A file of ${bytes.length} bytes cannot be written in one call.`,
    'Make it by a command.',
  );
}

/** Milliseconds that a file call may take: large files take their time, a second more for each megabyte. */
export function fileCallMs(bytes: number): number {
  return Math.round(FILE_CALL_MS + bytes / 1000);
}

export function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, Math.trunc(value)));
}
