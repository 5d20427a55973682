import { describeError } from '../kernel/app-error.ts';
import type { ImageService, SandboxProvider } from '../sandbox/index.ts';

/** Small and soon built: a first start makes it first, and tasks that need no more get it until there is another. */
export const FIRST_IMAGE = 'minimal';

export interface PrepareImagesOptions {
  provider: Pick<SandboxProvider, 'health'>;
  images: Pick<ImageService, 'list' | 'find' | 'ensureBaseSnapshot' | 'build'>;
  /** What building takes and this machine lacks, with the command that adds it. */
  findMissing: () => Promise<{ names: string[]; command: string } | null>;
  /** The image that tasks are given. */
  developerTemplate: string;
  /** What happens, a sentence each, for who started the program. */
  tell: (line: string) => void;
}

/**
 * Where VMs can be had: builds the image that tasks get when it is not there, and before it, when there is none at all,
 * the small one. Those that are there get their base snapshot when this host has none of them (they were imported, or
 * VMs have another size now). Never rejects: an image that cannot be made is told and shown as such.
 */
export async function prepareImages(options: PrepareImagesOptions): Promise<void> {
  const { provider, images, findMissing, developerTemplate, tell } = options;
  try {
    if (!(await provider.health()).available) return;
    const names = [...new Set([FIRST_IMAGE, developerTemplate])];
    const known = (await images.list()).filter(({ name }) => names.includes(name));
    const there = known.filter(({ state }) => state === 'ready');
    for (const { name, hasBaseSnapshot } of there) {
      const image = hasBaseSnapshot ? null : await images.find(name);
      if (image !== null) await images.ensureBaseSnapshot(image);
    }
    if (there.some(({ name }) => name === developerTemplate)) return;
    const lacks = await findMissing();
    if (lacks !== null) return tell(describeLack(developerTemplate, lacks));
    const missing = names.filter((name) => !there.some((image) => image.name === name));
    await Promise.all(missing.map((name) => build(name, options)));
  } catch (error) {
    tell(`No image for VMs could be made ready: ${withoutEnd(describeError(error))}.`);
  }
}

function describeLack(name: string, { names, command }: { names: string[]; command: string }): string {
  return `The image "${name}" for VMs is not there, and building it needs ${names.join(', ')}. As root: ${command}`;
}

async function build(name: string, { images, tell }: PrepareImagesOptions): Promise<void> {
  tell(`Building the image "${name}" for VMs, once, in the background: a minute or a few.`);
  try {
    await images.build(name);
    tell(`The image "${name}" is ready: commands run in VMs of it.`);
  } catch (error) {
    const { code, hint } = error as { code?: unknown; hint?: unknown };
    // The program ends, and the next start builds it.
    if (code === 'image.cancelled') return;
    const what = typeof hint === 'string' ? ` ${hint}` : '';
    tell(`The image "${name}" could not be built: ${withoutEnd(describeError(error))}.${what}`);
  }
}

const withoutEnd = (text: string): string => text.replace(/[.\s]+$/, '');
