import { chmod, mkdir, open, rm, stat } from 'node:fs/promises';
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
  // Opened to all while it is made, for who owns the root's files may be another user; but nobody else learns its
  // folder's name: it stands in no command, and the folder around it cannot be listed.
  const folder = join(request.work, crypto.randomUUID());
  await mkdir(folder);
  await chmod(folder, 0o711);
  const draft = join(folder, 'disk.raw');
  await (await open(draft, 'wx')).close();
  await chmod(draft, 0o666);
  const options = ['-q', '-F', '-t', 'ext4', '-L', 'root', '-m', '0'];
  // The guest's kernel fills in the rest of the tables when it is idle.
  const lazy = ['-E', 'lazy_itable_init=1,lazy_journal_init=1,root_owner=0:0'];
  const command = ['mke2fs', ...options, ...lazy, '-d', request.root, 'disk.raw', `${request.gib}G`];
  await runProgram(request.scratch.asOwner(command), surroundings, { cwd: folder });
  await chmod(draft, 0o600);
  await runProgram(
    ['cp', '--sparse=always', '--reflink=auto', '--no-preserve=mode', draft, request.to],
    surroundings,
  );
  await rm(folder, { recursive: true });
  await chmod(request.to, 0o644);
  return (await stat(request.to)).blocks * 512;
}
