import { chmod, open, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { BuildScratch } from './build-scratch.ts';
import { runProgram, type ProgramSurroundings } from './run-program.ts';

/**
 * Makes an ext4 disk of a root file system: sparse, it takes what is in it. Gives the bytes that it takes.
 * @throws AppError
 */
export async function makeDisk(
  request: { root: string; work: string; to: string; gib: number; scratch: BuildScratch },
  surroundings: ProgramSurroundings,
): Promise<number> {
  const draft = join(request.work, 'disk.raw');
  // Made here and opened to all, for who owns the root's files may be another user; its folder is closed.
  await (await open(draft, 'w')).close();
  await chmod(draft, 0o666);
  const options = ['-q', '-F', '-t', 'ext4', '-L', 'root', '-m', '0'];
  // The guest's kernel fills in the rest of the tables when it is idle.
  const lazy = ['-E', 'lazy_itable_init=1,lazy_journal_init=1,root_owner=0:0'];
  const command = ['mke2fs', ...options, ...lazy, '-d', request.root, draft, `${request.gib}G`];
  await runProgram(request.scratch.asOwner(command), surroundings);
  await runProgram(
    ['cp', '--sparse=always', '--reflink=auto', '--no-preserve=mode', draft, request.to],
    surroundings,
  );
  await rm(draft);
  await chmod(request.to, 0o644);
  return (await stat(request.to)).blocks * 512;
}
