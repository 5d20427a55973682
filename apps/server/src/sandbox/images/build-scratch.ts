import { createHash } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { runProgram, type ProgramSurroundings } from './run-program.ts';

/** Where others than root unpack: mmdebstrap's user namespace needs a path that everybody may pass through. */
const PASSABLE = '/var/tmp';

/**
 * Folders for what a build needs and throws away. As root it lies beside the images. Else the root file system's files
 * belong to users of a namespace, and only from within one can they be removed.
 */
export class BuildScratch {
  readonly #isRoot: boolean;
  readonly #parent: string;
  readonly #prefix: string;
  readonly #surroundings: ProgramSurroundings;

  constructor(options: { isRoot: boolean; parent: string; surroundings: ProgramSurroundings }) {
    this.#isRoot = options.isRoot;
    this.#parent = options.isRoot ? options.parent : PASSABLE;
    const of = createHash('sha256').update(options.parent).digest('hex').slice(0, 12);
    this.#prefix = options.isRoot ? '.scratch-' : `vitto-image-${of}-`;
    // What is removed is removed even when the build was cancelled.
    this.#surroundings = { environment: options.surroundings.environment };
  }

  async make(): Promise<string> {
    await mkdir(this.#parent, { recursive: true });
    const folder = await mkdtemp(join(this.#parent, this.#prefix));
    // The users of a namespace are others; nothing in it is secret.
    if (!this.#isRoot) await chmod(folder, 0o711);
    return folder;
  }

  /** Removes what killed builds left. Under the lock of the image. */
  async removeLeftovers(): Promise<void> {
    const names = await readdir(this.#parent).catch(() => []);
    for (const name of names.filter((one) => one.startsWith(this.#prefix))) {
      await this.remove(join(this.#parent, name));
    }
  }

  async remove(folder: string): Promise<void> {
    if (!this.#isRoot) {
      await runProgram(this.asOwner(['rm', '-rf', '--', join(folder, 'root')]), this.#surroundings).catch(
        () => undefined,
      );
    }
    await rm(folder, { recursive: true, force: true });
  }

  /** The command, run as who owns the files of a root file system that was made here. */
  asOwner(command: string[]): string[] {
    return this.#isRoot ? command : ['mmdebstrap', '--unshare-helper', ...command];
  }
}
