import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { GuestFile } from './overlay.ts';
import { runProgram, type ProgramSurroundings } from './run-program.ts';

/** The programs of `images/guest` and where each goes. `vitto-init` is in the initramfs, and stays PID 1 from there. */
const PROGRAMS: Readonly<Record<string, string>> = {
  'vitto-agent': '/usr/local/sbin/vitto-agent',
  'vitto-git-ssh': '/usr/local/bin/vitto-git-ssh',
};

/** Compiles the guest's own programs. @throws AppError */
export async function buildGuest(
  { recipes, to }: { recipes: string; to: string },
  surroundings: ProgramSurroundings,
): Promise<{ init: string; files: GuestFile[] }> {
  await mkdir(to);
  await runProgram(['sh', join(recipes, 'guest/build.sh'), to], surroundings);
  const files = Object.entries(PROGRAMS).map(([name, path]) => ({ from: join(to, name), to: path }));
  return { init: join(to, 'vitto-init'), files };
}
