import { join } from 'node:path';
import type { ImageRecipe } from './image-recipe.ts';
import { runProgram, type ProgramSurroundings } from './run-program.ts';

const DEBIAN = 'http://deb.debian.org';

/** What mmdebstrap says it does next, and how far it is then (measured). */
const MILESTONES: readonly [RegExp, number][] = [
  [/^I: running apt-get update/, 0.02],
  [/^I: downloading packages/, 0.1],
  [/^I: extracting archives/, 0.25],
  [/^I: installing essential packages/, 0.4],
  [/^I: installing remaining packages/, 0.5],
  [/^I: running --customize-hook/, 0.9],
  [/^I: cleaning package lists/, 0.97],
];

export interface DebianRootRequest {
  recipe: ImageRecipe;
  /** Where the root file system goes; must not exist. */
  root: string;
  /** Archive that is laid over it. */
  overlay: string;
  /** A folder into which `vitto-kernel/` with the kernel's package is put. */
  kernelTo: string;
  /** Folder for mmdebstrap's own temporary files: they go with it when the build is killed. */
  temporary: string;
  /** Folder of the programs that mmdebstrap calls. */
  hooks: string;
  architecture: 'amd64' | 'arm64';
  isRoot: boolean;
  onProgress: (part: number) => void;
}

/** Makes a root file system of Debian's packages, as root or in a user namespace. @throws AppError */
export async function makeDebianRoot(
  request: DebianRootRequest,
  surroundings: ProgramSurroundings,
): Promise<void> {
  const command = [...(request.isRoot ? inOwnProcessTree() : []), 'mmdebstrap', ...debianArguments(request)];
  const environment = { ...surroundings.environment, TMPDIR: request.temporary };
  await runProgram(
    command,
    { ...surroundings, environment },
    {
      endsHard: request.isRoot,
      onLine: (line) => {
        const milestone = MILESTONES.find(([pattern]) => pattern.test(line));
        if (milestone !== undefined) request.onProgress(milestone[1]);
      },
    },
  );
}

/** As root, all that it starts ends with it: it is the first process of a process namespace. */
function inOwnProcessTree(): string[] {
  return ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc', '--'];
}

export function debianArguments(request: DebianRootRequest): string[] {
  const { recipe, hooks } = request;
  return [
    '--variant=minbase',
    `--mode=${request.isRoot ? 'root' : 'unshare'}`,
    '--format=directory',
    `--architectures=${request.architecture}`,
    `--include=${recipe.packages.join(',')}`,
    '--aptopt=APT::Install-Recommends "false"',
    '--aptopt=Acquire::Retries "3"',
    '--dpkgopt=force-unsafe-io',
    ...recipe.excludePaths.map((path) => `--dpkgopt=path-exclude=${path}`),
    `--customize-hook=${join(hooks, 'fetch-kernel')}`,
    `--customize-hook=copy-out /vitto-kernel ${quote(request.kernelTo)}`,
    `--customize-hook=tar-in ${quote(request.overlay)} /`,
    `--customize-hook=${join(hooks, 'finish-root')}`,
    recipe.suite,
    request.root,
    `deb ${DEBIAN}/debian ${recipe.suite} main`,
    `deb ${DEBIAN}/debian ${recipe.suite}-updates main`,
    `deb ${DEBIAN}/debian-security ${recipe.suite}-security main`,
  ];
}

/** mmdebstrap splits the words of its own hooks as a shell would. */
function quote(path: string): string {
  return `'${path.replaceAll("'", `'\\''`)}'`;
}
