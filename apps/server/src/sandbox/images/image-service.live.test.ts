import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { getuid } from 'node:process';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ImageService } from './image-service.ts';
import { TinyImage } from './testing-tiny-image.ts';

let tiny: TinyImage;
let service: ImageService;
beforeEach(async () => {
  tiny = await TinyImage.make();
  const { recipes } = tiny;
  await cp(join(recipes, 'tiny'), join(recipes, 'other'), { recursive: true });
  const recipe = await readFile(join(recipes, 'other/recipe.yaml'), 'utf8');
  await writeFile(join(recipes, 'other/recipe.yaml'), recipe.replace('name: tiny', 'name: other'));
  service = new ImageService({
    folder: tiny.store.folder,
    isRoot: getuid?.() === 0,
    environment: tiny.environment,
    baseSnapshots: null,
    listUsed: () => Promise.resolve(new Set()),
    recipes,
  });
});
afterEach(async () => {
  await service.stop();
  await tiny.remove();
});

const stateOf = async (name: string) => (await service.list()).find((image) => image.name === name)?.state;

describe('builds of one host', () => {
  it('run one after the other, each shown as building from the beginning', async () => {
    const log = join(tiny.folder, 'log');
    await tiny.endWith(`echo begin >>${log}; sleep 0.2; echo end >>${log}`);
    const both = [service.build('tiny'), service.build('other')];
    expect([await stateOf('tiny'), await stateOf('other')]).toEqual(['building', 'building']);
    await Promise.all(both);
    expect((await readFile(log, 'utf8')).trim().split('\n')).toEqual(['begin', 'end', 'begin', 'end']);
    expect([await stateOf('tiny'), await stateOf('other')]).toEqual(['ready', 'ready']);
  });

  it('can be given up before their turn, and one that fails holds up no other', async () => {
    await tiny.endWith('sleep 600');
    const ends = new AbortController();
    const first = service.build('tiny', undefined, ends.signal);
    await vi.waitFor(async () => expect(await tiny.runs()).toHaveLength(1), { timeout: 60_000 });
    const abort = new AbortController();
    const second = service.build('other', undefined, abort.signal);
    abort.abort();
    await expect(second).rejects.toMatchObject({ code: 'image.cancelled' });
    expect(await stateOf('tiny')).toBe('building');
    const third = service.build('other');
    await tiny.endWith('');
    ends.abort();
    await expect(first).rejects.toMatchObject({ code: 'image.cancelled' });
    expect((await third).name).toBe('other');
    expect(await tiny.runs()).toHaveLength(2);
  });
});
