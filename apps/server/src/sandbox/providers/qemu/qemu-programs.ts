import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';

const FOLDERS = ['/usr/bin', '/bin', '/usr/sbin', '/sbin', '/usr/local/bin'];
const ROM_FOLDERS = ['/usr/share/qemu', '/usr/share/seabios', '/usr/local/share/qemu'];

/** What VMs are made with, and the Debian package that brings it. */
const NEEDED = {
  qemu: { file: 'qemu-system-x86_64', folders: FOLDERS, package: 'qemu-system-x86' },
  rom: { file: 'qboot.rom', folders: ROM_FOLDERS, package: 'qemu-system-data' },
  qemuImg: { file: 'qemu-img', folders: FOLDERS, package: 'qemu-utils' },
  setpriv: { file: 'setpriv', folders: FOLDERS, package: 'util-linux' },
  nice: { file: 'nice', folders: FOLDERS, package: 'coreutils' },
  bash: { file: 'bash', folders: FOLDERS, package: 'bash' },
} as const;

/** Absolute paths. Looked for in fixed folders, never through PATH. */
export type QemuPrograms = Record<keyof typeof NEEDED, string>;

export interface FoundPrograms {
  programs: QemuPrograms;
  missing: string[];
  packages: string[];
}

export function findQemuPrograms(): FoundPrograms {
  const programs: Partial<QemuPrograms> = {};
  const missing: (keyof typeof NEEDED)[] = [];
  for (const name of Object.keys(NEEDED) as (keyof typeof NEEDED)[]) {
    const { folders, file } = NEEDED[name];
    const found = folders.map((folder) => join(folder, file)).find(isReadable);
    if (found === undefined) missing.push(name);
    else programs[name] = found;
  }
  return {
    programs: programs as QemuPrograms,
    missing: missing.map((name) => NEEDED[name].file),
    packages: [...new Set(missing.map((name) => NEEDED[name].package))],
  };
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}
