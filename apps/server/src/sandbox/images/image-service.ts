import type { ImageInfo } from '@vitto/contracts';
import { AppError, describeError } from '../../kernel/app-error.ts';
import type { VmImage } from '../providers/sandbox-provider.ts';
import type { BaseSnapshots } from './base-snapshots.ts';
import { withFileLock } from './file-lock.ts';
import type { BuildProgress } from './build-progress.ts';
import { exportImage } from './export-image.ts';
import { findMissingForBuild } from './host-tools.ts';
import { buildImage } from './image-builder.ts';
import { listRecipes, RECIPES } from './image-recipe.ts';
import { ImageStore, type StoredImage } from './image-store.ts';
import { importImage } from './import-image.ts';
import { hashRecipe } from './recipe-hash.ts';
import { RunningBuilds } from './running-builds.ts';

export interface ImageServiceOptions {
  /** Absolute; see `VITTO_IMAGES`. */
  folder: string;
  isRoot: boolean;
  /** See `pickBuildEnvironment`. */
  environment: Readonly<Record<string, string>>;
  /** Makes and looks for base snapshots; `null` where no VM runs (images are built nevertheless). */
  baseSnapshots: BaseSnapshots | null;
  /** Hashes of the images that disks of machines lie over (see `listUsedImages`): those images are kept. */
  listUsed: () => Promise<ReadonlySet<string>>;
  /** The folder `images/` with the recipes. */
  recipes?: string;
  architecture?: NodeJS.Architecture;
  /** Every line that the programs of a build print. */
  onLine?: (line: string) => void;
}

/** The images of this host: which there are, building, moving and removing them. */
export class ImageService {
  readonly #options: ImageServiceOptions & { recipes: string; architecture: NodeJS.Architecture };
  readonly #store: ImageStore;
  readonly #builds = new RunningBuilds<StoredImage>();
  /** When all builds that began before have ended. */
  #lastTurn: Promise<void> = Promise.resolve();
  /** Why the last build of a name failed, or what its image lacks. */
  readonly #problems = new Map<string, string>();

  constructor(options: ImageServiceOptions) {
    this.#options = { recipes: RECIPES, architecture: process.arch, ...options };
    this.#store = new ImageStore(options.folder);
  }

  /** Every image that there is a recipe for or that was imported. */
  async list(): Promise<ImageInfo[]> {
    const recipes = await listRecipes(this.#options.recipes);
    const stored: string[] = [];
    for (const name of await this.#store.names()) {
      if ((await this.#store.list(name)).length > 0) stored.push(name);
    }
    const names = new Set([...recipes, ...stored]);
    return Promise.all([...names].sort().map((name) => this.#describe(name)));
  }

  /**
   * The image to start VMs of a name from: that of the recipe as it is now, else the newest there is; `null` when
   * there is none. With a hash that very one: a kept disk fits no other.
   */
  async find(name: string, hash?: string): Promise<VmImage | null> {
    if (hash === undefined) return (await this.#choose(name)).image;
    return (await this.#store.list(name)).find((image) => image.hash === hash) ?? null;
  }

  /**
   * Builds an image with its base snapshot, or gives the one that is there. Calls for one name are one build; see
   * `RunningBuilds.join` for the signal.
   * @throws AppError `image.…`
   */
  build(
    name: string,
    onProgress?: (progress: BuildProgress) => void,
    signal?: AbortSignal,
  ): Promise<VmImage> {
    const work = (report: (progress: BuildProgress) => void, ends: AbortSignal) =>
      this.#inTurn(ends, () => this.#build(name, report, ends));
    return this.#builds.join(name, work, { onProgress, signal });
  }

  /** Ends the builds of this process and waits for them: for the end of the host. */
  stop(): Promise<void> {
    return this.#builds.stop();
  }

  /** Takes the base snapshot of an image when there is none that fits this host. @throws ProviderError */
  async ensureBaseSnapshot(image: VmImage): Promise<void> {
    const stored = (await this.#store.list(image.name)).find(({ hash }) => hash === image.hash);
    if (stored === undefined) throw notBuilt(image.name);
    await this.#options.baseSnapshots?.ensure(stored);
  }

  /** Writes an image into one file that `import` takes on another host. @throws AppError `image.not-built`, `image.no-space` */
  async export(name: string, file: string, signal?: AbortSignal): Promise<{ hash: string; bytes: number }> {
    const { image } = await this.#choose(name);
    if (image === null) throw notBuilt(name);
    return exportImage(image, file, { environment: this.#options.environment, signal });
  }

  /** Takes an image from a file that `export` wrote: checked, and there in one step. @throws AppError `image.bad-file` */
  async import(file: string, signal?: AbortSignal): Promise<VmImage> {
    return importImage(file, this.#store, { environment: this.#options.environment, signal });
  }

  /** Removes the images of a name, but those that disks of machines lie over. @throws AppError `image.not-built` */
  async remove(name: string): Promise<{ removed: number; kept: number }> {
    if ((await this.#store.list(name)).length === 0) throw notBuilt(name);
    return withFileLock(this.#store.lockFile(name), {}, () => this.#removeAllBut(name, null));
  }

  /** One build at a time: two would take as long, and the first of them much longer. The signal ends the wait. */
  async #inTurn<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const before = this.#lastTurn;
    const turn = Promise.withResolvers<void>();
    this.#lastTurn = Promise.all([before, turn.promise]).then(() => undefined);
    try {
      await Promise.race([before, isAborted(signal)]);
      return await work();
    } finally {
      turn.resolve();
    }
  }

  async #build(
    name: string,
    onProgress: (progress: BuildProgress) => void,
    signal: AbortSignal,
  ): Promise<StoredImage> {
    const { recipes, architecture, isRoot, environment, onLine } = this.#options;
    const onWait = () => onProgress({ step: 'Waiting for another process that builds it', fraction: 0 });
    try {
      const image = await buildImage(
        name,
        { store: this.#store, recipes, architecture, isRoot, onProgress, onWait },
        { environment, signal, onLine },
      );
      this.#problems.delete(name);
      await this.#addBaseSnapshot(image, onProgress);
      await withFileLock(this.#store.lockFile(name), { signal }, () => this.#removeAllBut(name, image.hash));
      return image;
    } catch (error) {
      this.#problems.set(name, describeProblem(error));
      throw error;
    }
  }

  /** An image without a base snapshot is whole: its VMs boot, which takes longer. That is told, and is no failure. */
  async #addBaseSnapshot(image: StoredImage, onProgress: (progress: BuildProgress) => void): Promise<void> {
    const { baseSnapshots } = this.#options;
    if (baseSnapshots === null) return;
    onProgress({ step: 'Taking the base snapshot', fraction: BEFORE_SNAPSHOT });
    try {
      await baseSnapshots.ensure(image);
      onProgress({ step: 'Done', fraction: 1 });
    } catch (error) {
      this.#problems.set(image.name, `There is no base snapshot of it: ${describeProblem(error)}`);
    }
  }

  async #removeAllBut(name: string, hash: string | null): Promise<{ removed: number; kept: number }> {
    const used = await this.#options.listUsed();
    const images = (await this.#store.list(name)).filter((image) => image.hash !== hash);
    const unused = images.filter((image) => !used.has(image.hash));
    for (const image of unused) await this.#store.remove(image);
    return { removed: unused.length, kept: images.length - unused.length };
  }

  /** The image that VMs of a name start from, and whether it is that of the recipe as it is now. */
  async #choose(
    name: string,
  ): Promise<{ image: StoredImage | null; isCurrent: boolean; hash: string | null }> {
    const { recipes } = this.#options;
    const hash = (await listRecipes(recipes)).includes(name) ? await hashRecipe(name, this.#options) : null;
    const images = await this.#store.list(name);
    const current = images.find((image) => image.hash === hash);
    return { image: current ?? images[0] ?? null, isCurrent: current !== undefined, hash };
  }

  async #describe(name: string): Promise<ImageInfo> {
    const { image, isCurrent, hash } = await this.#choose(name);
    const progress = this.#builds.progressOf(name);
    const problem = this.#problems.get(name) ?? null;
    const state =
      progress !== null ? 'building' : image !== null ? 'ready' : problem !== null ? 'failed' : 'missing';
    return {
      name,
      hash: image?.hash ?? hash ?? '',
      state,
      bytes: image === null ? 0 : await this.#store.measure(image.folder),
      builtAt: image?.manifest.builtAt ?? null,
      hasBaseSnapshot: image !== null && (await this.#hasBaseSnapshot(image)),
      progress,
      problem: problem ?? (await this.#whatIsWrong(name, image, isCurrent || hash === null)),
    };
  }

  async #hasBaseSnapshot(image: StoredImage): Promise<boolean> {
    const { baseSnapshots } = this.#options;
    return baseSnapshots !== null && (await baseSnapshots.isThere(image));
  }

  async #whatIsWrong(name: string, image: StoredImage | null, isCurrent: boolean): Promise<string | null> {
    if (image !== null) {
      return isCurrent
        ? null
        : `It is of an older recipe; \`vitto image build ${name}\` makes the newer one.`;
    }
    const missing = await findMissingForBuild(this.#options.isRoot);
    return missing === null ? null : `It cannot be built here yet: as root, ${missing.command}`;
  }
}

function isAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** How far a build is when only its base snapshot is left. */
const BEFORE_SNAPSHOT = 0.85;

function describeProblem(error: unknown): string {
  const { hint } = error as { hint?: unknown };
  return typeof hint === 'string' ? `${describeError(error)} ${hint}` : describeError(error);
}

function notBuilt(name: string): AppError {
  return new AppError('image.not-built', `There is no image "${name}" here.`, {
    status: 404,
    hint: `\`vitto image build ${name}\` builds it, \`vitto image import FILE\` takes it from another host.`,
  });
}
