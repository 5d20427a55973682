import { getuid } from 'node:process';
import { buildImage } from './image-builder.ts';
import { ImageStore } from './image-store.ts';
import { pickBuildEnvironment } from './build-environment.ts';

/** A builder of its own process, for tests that end it: `testing-build.ts IMAGES RECIPES PATH`. Prints the image's folder. */
const [images = '', recipes = '', path = ''] = process.argv.slice(2);
const image = await buildImage(
  'tiny',
  {
    store: new ImageStore(images),
    recipes,
    architecture: process.arch,
    isRoot: getuid?.() === 0,
    onProgress: () => undefined,
  },
  { environment: pickBuildEnvironment({ PATH: path }) },
);
process.stdout.write(`${image.folder}\n`);
