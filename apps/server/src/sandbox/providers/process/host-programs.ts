import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';

const FOLDERS = ['/usr/bin', '/bin', '/usr/sbin', '/sbin', '/usr/local/bin'];

/** What the sandbox is built from, and the Debian package that brings it. */
const NEEDED = {
  bwrap: 'bubblewrap',
  perl: 'perl-base',
  grep: 'grep',
  sh: 'dash',
  setpriv: 'util-linux',
  prlimit: 'util-linux',
  nsenter: 'util-linux',
  rm: 'coreutils',
  du: 'coreutils',
  chmod: 'coreutils',
  test: 'coreutils',
} as const;

/** Absolute paths of the programs. Looked for in fixed folders, never through PATH. */
export type HostPrograms = Record<keyof typeof NEEDED, string>;

export function findHostPrograms(): { programs: HostPrograms; missing: string[]; packages: string[] } {
  const programs: Partial<HostPrograms> = {};
  const missing: (keyof typeof NEEDED)[] = [];
  for (const name of Object.keys(NEEDED) as (keyof typeof NEEDED)[]) {
    const found = FOLDERS.map((folder) => join(folder, name)).find(isExecutable);
    if (found === undefined) missing.push(name);
    else programs[name] = found;
  }
  return {
    programs: programs as HostPrograms,
    missing,
    packages: [...new Set(missing.map((name) => NEEDED[name]))],
  };
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
