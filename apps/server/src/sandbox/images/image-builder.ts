import { chmod, copyFile, mkdir, readdir, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '../../kernel/app-error.ts';
import { withFileLock } from './file-lock.ts';
import { trackProgress, type BuildProgress, type BuildStep } from './build-progress.ts';
import { BuildScratch } from './build-scratch.ts';
import { makeDebianRoot } from './debian-root.ts';
import { makeDisk } from './disk-image.ts';
import { isNoSpace, noSpace } from './explain-failure.ts';
import { buildGuest } from './guest-programs.ts';
import { findMissingForBuild, toolsMissing } from './host-tools.ts';
import { GUEST_PROTOCOL, type ImageManifest } from './image-manifest.ts';
import { readRecipe, type ImageRecipe } from './image-recipe.ts';
import type { ImageStore, StoredImage } from './image-store.ts';
import { makeKernelFiles } from './kernel-files.ts';
import { layNodePackages } from './node-packages.ts';
import { packOverlay } from './overlay.ts';
import { hashRecipe } from './recipe-hash.ts';
import type { ProgramSurroundings } from './run-program.ts';

/** Below this much room a build is not begun, in bytes: `developer` takes 2 GB while it is made. */
const ROOM = 3 * 1024 ** 3;

export interface BuildRequest {
  store: ImageStore;
  /** The folder `images/` of a checkout. */
  recipes: string;
  architecture: NodeJS.Architecture;
  isRoot: boolean;
  onProgress: (progress: BuildProgress) => void;
  /** Told once when another process builds this image: this one waits and takes what comes of it. */
  onWait?: () => void;
}

/**
 * Builds the image of a recipe, or gives the one that is there: a build of the same recipe is never made twice, not
 * even by two processes at once. Killed at any time, it leaves nothing that looks like an image.
 * @throws AppError `image.…`
 */
export async function buildImage(
  name: string,
  request: BuildRequest,
  surroundings: ProgramSurroundings,
): Promise<StoredImage> {
  const { store } = request;
  const recipe = await readRecipe(name, request.recipes);
  const hash = await hashRecipe(name, request);
  const findBuilt = async () => (await store.list(name)).find((image) => image.hash === hash);
  const built = await findBuilt();
  if (built !== undefined) return built;
  const missing = await findMissingForBuild(request.isRoot);
  if (missing !== null) throw toolsMissing(missing, 'Building an image');
  await makeFolder(join(store.folder, name));
  return withFileLock(
    store.lockFile(name),
    { signal: surroundings.signal, onWait: request.onWait },
    async () => {
      const parent = join(store.folder, name);
      const scratch = new BuildScratch({ isRoot: request.isRoot, parent, surroundings });
      await scratch.removeLeftovers();
      await store.removeUnfinished(name);
      return (await findBuilt()) ?? (await makeImage({ recipe, hash, scratch, ...request }, surroundings));
    },
  );
}

interface ImageRequest extends BuildRequest {
  recipe: ImageRecipe;
  hash: string;
  scratch: BuildScratch;
}

async function makeImage(request: ImageRequest, surroundings: ProgramSurroundings): Promise<StoredImage> {
  const { store, recipe, hash, scratch } = request;
  const { name } = recipe;
  const work = await scratch.make();
  const out = await store.makeWorkFolder(name);
  try {
    await checkRoom(work);
    const made = await makeFiles({ ...request, work, out }, surroundings);
    const manifest = describeImage(request, made);
    await writeFile(join(out, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`);
    return { name, hash, manifest, folder: await store.putInPlace(out, { name, hash }) };
  } catch (error) {
    throw isNoSpace(error) ? noSpace(error) : error;
  } finally {
    await scratch.remove(work);
    await store.removeUnfinished(name);
  }
}

/** Makes `kernel`, `initramfs` and `disk.raw` in `out`, step by step. */
async function makeFiles(
  request: ImageRequest & { work: string; out: string },
  surroundings: ProgramSurroundings,
): Promise<{ kernel: string; usedBytes: number }> {
  const { recipe, work, out, scratch } = request;
  const steps: BuildStep[] = [
    'guest',
    ...(recipe.npm.length > 0 ? ['npm' as const] : []),
    'debian',
    'kernel',
    'disk',
  ];
  const track = trackProgress([...steps, 'snapshot'], request.onProgress);
  const root = join(work, 'root');
  const stage = join(work, 'overlay');
  await mkdir(stage);

  track('guest', 0);
  const guest = await buildGuest({ recipes: request.recipes, to: join(work, 'guest') }, surroundings);
  const onNpm = (part: number) => track('npm', part);
  await layNodePackages(
    recipe.npm,
    { root: stage, work: join(work, 'npm'), onProgress: onNpm },
    surroundings,
  );
  track('debian', 0);
  const overlay = join(work, 'overlay.tar');
  await packOverlay(
    { stage, to: overlay, recipes: request.recipes, name: recipe.name, guestFiles: guest.files },
    surroundings,
  );
  await makeDebianRoot(
    {
      recipe,
      root,
      overlay,
      kernelTo: work,
      temporary: work,
      hooks: await placeHooks(request.recipes, work),
      architecture: debianArchitecture(request.architecture),
      isRoot: request.isRoot,
      onProgress: (part) => track('debian', part),
    },
    surroundings,
  );
  track('kernel', 0);
  const kernel = await makeKernelFiles(
    { packages: join(work, 'vitto-kernel'), work, init: guest.init, to: out },
    surroundings,
  );
  track('disk', 0);
  const usedBytes = await makeDisk(
    { root, work, to: join(out, 'disk.raw'), gib: recipe.diskGib, scratch },
    surroundings,
  );
  track('disk', 1);
  return { kernel, usedBytes };
}

/** The programs that mmdebstrap calls, where the users of a namespace get at them: a checkout may lie in a closed home. */
async function placeHooks(recipes: string, work: string): Promise<string> {
  const from = join(recipes, 'build');
  const hooks = join(work, 'hooks');
  await mkdir(hooks);
  for (const name of await readdir(from)) {
    await copyFile(join(from, name), join(hooks, name));
    await chmod(join(hooks, name), 0o755);
  }
  await chmod(hooks, 0o755);
  return hooks;
}

function describeImage(
  { recipe, hash, architecture }: ImageRequest,
  made: { kernel: string; usedBytes: number },
): ImageManifest {
  return {
    version: 1,
    name: recipe.name,
    hash,
    architecture: architecture === 'arm64' ? 'arm64' : 'x64',
    guestProtocol: GUEST_PROTOCOL,
    suite: recipe.suite,
    kernel: made.kernel,
    builtAt: new Date().toISOString(),
    memoryMib: recipe.memoryMib,
    cpus: recipe.cpus,
    diskGib: recipe.diskGib,
    usedBytes: made.usedBytes,
  };
}

async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o755 });
  } catch (error) {
    throw new AppError('image.folder', `The folder of the images cannot be made: ${folder}`, {
      status: 500,
      hint: 'Set VITTO_IMAGES to a folder that you may write to.',
      cause: error,
    });
  }
}

async function checkRoom(folder: string): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize < ROOM) throw noSpace(new Error(`${bavail * bsize} bytes free at ${folder}`));
}

function debianArchitecture(architecture: NodeJS.Architecture): 'amd64' {
  if (architecture === 'x64') return 'amd64';
  throw new AppError('image.unsupported-machine', `VMs are not made for this processor (${architecture}).`, {
    status: 501,
    hint: 'Use a sandbox host on x86-64; commands run in the process sandbox meanwhile.',
  });
}
