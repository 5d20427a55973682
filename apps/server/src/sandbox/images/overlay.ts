import { copyFile, cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { existsSync } from 'node:fs';
import { runProgram, type ProgramSurroundings } from './run-program.ts';

/**
 * Packs what is laid over the Debian root: the files of `images/root` and of the recipe, the guest's programs, and what
 * was laid into `stage` before. Owned by root whoever builds, with plain modes whatever the umask of the checkout was.
 */
export async function packOverlay(
  request: { stage: string; to: string; recipes: string; name: string; guestFiles: readonly GuestFile[] },
  surroundings: ProgramSurroundings,
): Promise<void> {
  for (const folder of [join(request.recipes, 'root'), join(request.recipes, request.name, 'root')]) {
    if (existsSync(folder)) await cp(folder, request.stage, { recursive: true, verbatimSymlinks: true });
  }
  for (const { from, to } of request.guestFiles) {
    await mkdir(join(request.stage, to, '..'), { recursive: true });
    await copyFile(from, join(request.stage, to));
  }
  const plain = [
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    '--mode=u=rwX,go=rX',
    '--sort=name',
    '--mtime=@0',
  ];
  await runProgram(['tar', '-c', ...plain, '-f', request.to, '-C', request.stage, '.'], surroundings);
}

export interface GuestFile {
  from: string;
  /** Absolute, in the guest. */
  to: string;
}
