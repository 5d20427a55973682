import { openSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GuestError, type StartProcessRequest } from '@vitto/contracts';
import { newId } from '../../../kernel/ids.ts';
import { FD } from './launch.ts';
import { GUEST } from './mount-plan.ts';

/** Linux takes no longer argument (MAX_ARG_STRLEN, less a margin). */
const MAX_COMMAND_BYTES = 120 * 1024;
const MAX_STDIN_BYTES = 16 * 1024 * 1024;

/** What the supervisor inside is to run; refuses what cannot be an argument. */
export function supervised({ command, cwd = '.', env = {} }: StartProcessRequest): string[] {
  if (Buffer.byteLength(command) > MAX_COMMAND_BYTES) {
    throw new GuestError(
      'too-large',
      'The command is too long.',
      'Write it to a file with write_file and run that.',
    );
  }
  if (command.includes('\0')) throw new GuestError('bad-path', 'The command holds a NUL byte.');
  assertPlainPath(cwd);
  const variables = Object.entries(env).map(([name, value]) => {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) || value.includes('\0')) {
      throw new GuestError('bad-path', `Not an environment variable: ${JSON.stringify(name)}`);
    }
    return `${name}=${value}`;
  });
  const folder = cwd.startsWith('/') ? cwd : `${GUEST.home}/${cwd}`;
  return ['/usr/bin/perl', GUEST.supervisor, String(FD.status), folder, command, ...variables];
}

/** Refuses early what could not even be passed on. */
export function assertPlainPath(path: string): void {
  if (path === '') throw new GuestError('bad-path', 'The path is empty.', 'Use "." for the home folder.');
  if (path.includes('\0')) throw new GuestError('bad-path', 'The path holds a NUL byte.');
}

/** Standard input as an open file (rather than a pipe, so that /dev/stdin can be opened inside). The caller closes it. */
export function openStdinFile(folder: string, text: string): number {
  const bytes = Buffer.from(text);
  if (bytes.length > MAX_STDIN_BYTES)
    throw new GuestError('too-large', 'The standard input is too long.', 'Write it to a file.');
  const path = join(folder, `stdin-${newId()}`);
  writeFileSync(path, bytes, { flag: 'wx', mode: 0o444 });
  const fd = openSync(path, 'r');
  unlinkSync(path);
  return fd;
}
