import { createHash } from 'node:crypto';
import { mkdir, readFile, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AppError } from '../../kernel/app-error.ts';
import type { NpmPackage } from './image-recipe.ts';
import { runProgram, type ProgramSurroundings } from './run-program.ts';

/** Texts that are of no use in a VM. */
const TEXTS = ['docs', 'man', 'share', 'CHANGELOG.md', 'README.md'];

/**
 * Fetches packages of the npm registry, by npm and its settings of this machine (registry, proxy, certificates), and
 * lays them into `root`. No script of a package runs. What is not what the recipe pinned is refused.
 * @throws AppError
 */
export async function layNodePackages(
  packages: readonly NpmPackage[],
  request: { root: string; work: string; onProgress: (part: number) => void },
  surroundings: ProgramSurroundings,
): Promise<void> {
  await mkdir(request.work, { recursive: true });
  for (const [at, wanted] of packages.entries()) {
    request.onProgress(at / packages.length);
    await layPackage(
      wanted,
      await fetchPackage(wanted, request.work, surroundings),
      request.root,
      surroundings,
    );
  }
}

async function fetchPackage(
  wanted: NpmPackage,
  work: string,
  surroundings: ProgramSurroundings,
): Promise<string> {
  const name = `${wanted.name}@${wanted.version}`;
  await runProgram(['npm', 'pack', '--ignore-scripts', '--silent', name], surroundings, { cwd: work });
  const file = join(work, `${wanted.name}-${wanted.version}.tgz`);
  const digest = createHash('sha512')
    .update(await readFile(file))
    .digest('base64');
  if (`sha512-${digest}` === wanted.integrity) return file;
  throw new AppError('image.wrong-package', `The registry's ${name} is not the one that the recipe pins.`, {
    status: 502,
    hint: 'See which registry npm uses here (`npm config get registry`); if the package was changed on purpose, put its new integrity into the recipe.',
  });
}

async function layPackage(
  { to, links }: NpmPackage,
  file: string,
  root: string,
  surroundings: ProgramSurroundings,
): Promise<void> {
  const folder = join(root, to);
  await mkdir(folder, { recursive: true });
  // What is a package to Node.js reads its own description; what is laid among other programs must not have one there.
  const left = to.includes('node_modules') ? TEXTS : [...TEXTS, 'package.json'];
  // All in such an archive is below the folder "package".
  const without = left.map((name) => `--exclude=package/${name}`);
  await runProgram(
    ['tar', '-xzf', file, '-C', folder, '--strip-components=1', '--no-same-owner', '--anchored', ...without],
    surroundings,
  );
  for (const [path, target] of Object.entries(links)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await symlink(target, join(root, path));
  }
}
