import type { ImageInfo } from '@vitto/contracts';
import { describe, expect, it } from 'vitest';
import { AppError } from '../kernel/app-error.ts';
import type { SandboxProvider } from '../sandbox/index.ts';
import { prepareImages, type PrepareImagesOptions } from './prepare-images.ts';

const imageOf = (name: string, change: Partial<ImageInfo> = {}): ImageInfo => ({
  name,
  hash: 'h',
  state: 'missing',
  bytes: 0,
  builtAt: null,
  hasBaseSnapshot: false,
  progress: null,
  problem: null,
  ...change,
});
const health = (available: boolean): Awaited<ReturnType<SandboxProvider['health']>> => ({
  available,
  accelerator: null,
  version: null,
  reason: null,
  hint: null,
  notices: [],
});
const ready = { state: 'ready', hasBaseSnapshot: true } as const;

/** What is done with images, and what is told, in order. */
async function prepare(images: ImageInfo[], change: Partial<PrepareImagesOptions> = {}) {
  const done: string[] = [];
  await prepareImages({
    provider: { health: async () => health(true) },
    images: {
      list: async () => images,
      find: async (name: string) => ({ name, hash: 'h', folder: '/images' }),
      ensureBaseSnapshot: async ({ name }: { name: string }) => void done.push(`snapshot ${name}`),
      build: async (name: string) => {
        if (images.some((image) => image.name === name && image.problem !== null))
          throw new AppError('image.no-space', 'The disk is full.', { hint: 'Make room.' });
        done.push(`build ${name}`);
        return { name, hash: 'h', folder: '/images' };
      },
    },
    findMissing: async () => null,
    developerTemplate: 'developer',
    tell: (line) => done.push(line.split(':', 1)[0] ?? ''),
    ...change,
  });
  return done;
}
const building = (name: string) => `Building the image "${name}" for VMs, once, in the background`;
const finished = (name: string) => `The image "${name}" is ready`;

describe('the images of a start', () => {
  it('are built when there is none, the small one first', async () => {
    const done = await prepare([imageOf('developer'), imageOf('minimal'), imageOf('other')]);
    expect(done.filter((line) => line.startsWith('build'))).toEqual(['build minimal', 'build developer']);
    expect(done).toEqual(expect.arrayContaining([building('minimal'), finished('developer')]));
  });

  it('are built when the one that tasks get is missing, and let be when it is there', async () => {
    expect(await prepare([imageOf('developer'), imageOf('minimal', ready)])).toEqual([
      building('developer'),
      'build developer',
      finished('developer'),
    ]);
    expect(await prepare([imageOf('developer', ready), imageOf('minimal')])).toEqual([]);
    const small = { developerTemplate: 'minimal' };
    expect(await prepare([imageOf('developer'), imageOf('minimal', ready)], small)).toEqual([]);
  });

  it('get the base snapshot that they lack', async () => {
    const imported = imageOf('developer', { state: 'ready' });
    expect(await prepare([imported, imageOf('minimal', ready)])).toEqual(['snapshot developer']);
  });

  it('are not built where no VM runs, or where the programs for it are missing', async () => {
    const none = [imageOf('developer'), imageOf('minimal')];
    const lacks = { names: ['lz4'], command: 'apt-get install lz4' };
    expect(await prepare(none, { findMissing: async () => lacks })).toEqual([
      expect.stringContaining('building it needs lz4. As root'),
    ]);
    const provider = { health: async () => health(false) };
    expect(await prepare(none, { provider })).toEqual([]);
  });

  it('fail one by one, and that is told', async () => {
    const done = await prepare([imageOf('developer'), imageOf('minimal', { problem: 'no room' })]);
    expect(done).toContain('The image "minimal" could not be built');
    expect(done).toContain(finished('developer'));
  });
});
