import { openSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StartProcessRequest } from '@vitto/contracts';
import { newId } from '../../../kernel/ids.ts';
import { assertCommand, assertPlainPath, environmentLines, stdinBytes } from '../../guest/command-checks.ts';
import { FD } from './launch.ts';
import { GUEST } from './mount-plan.ts';

/** What the supervisor inside is to run; refuses what cannot be an argument. */
export function supervised({ command, cwd = '.', env }: StartProcessRequest): string[] {
  assertCommand(command);
  assertPlainPath(cwd);
  const variables = environmentLines(env);
  const folder = cwd.startsWith('/') ? cwd : `${GUEST.home}/${cwd}`;
  return ['/usr/bin/perl', GUEST.supervisor, String(FD.status), folder, command, ...variables];
}

/** Standard input as an open file (rather than a pipe, so that /dev/stdin can be opened inside). The caller closes it. */
export function openStdinFile(folder: string, text: string): number {
  const bytes = stdinBytes(text);
  const path = join(folder, `stdin-${newId()}`);
  writeFileSync(path, bytes, { flag: 'wx', mode: 0o444 });
  const fd = openSync(path, 'r');
  unlinkSync(path);
  return fd;
}
