import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { hashRecipe } from './recipe-hash.ts';

let recipes: string;
beforeEach(async () => {
  recipes = await mkdtemp(join(tmpdir(), 'vitto-recipes-'));
  for (const name of ['tiny/root/etc', 'other', 'build', 'guest', 'root']) {
    await mkdir(join(recipes, name), { recursive: true });
  }
  await writeFile(join(recipes, 'tiny/recipe.yaml'), 'name: tiny');
  await writeFile(join(recipes, 'guest/agent.c'), 'int main;');
});
afterEach(() => rm(recipes, { recursive: true }));

const hash = () => hashRecipe('tiny', { recipes, architecture: 'x64' });

it.each<[string, (at: (path: string) => string) => Promise<void>]>([
  ['its recipe', (at) => writeFile(at('tiny/recipe.yaml'), 'name: tiny2')],
  ['a file of its own', (at) => writeFile(at('tiny/root/etc/motd'), '')],
  ['a file of all', (at) => writeFile(at('root/hosts'), 'x')],
  ["the guest's program", (at) => writeFile(at('guest/agent.c'), 'int main ;')],
  ['a name', (at) => writeFile(at('guest/agent.h'), '')],
  ['a link', (at) => symlink('agent.c', at('guest/link.c'))],
  ['what may be run', (at) => chmod(at('guest/agent.c'), 0o755)],
])('an image is another one when %s changes', async (_what, change) => {
  const before = await hash();
  expect(await hash()).toBe(before);
  await change((path) => join(recipes, path));
  expect(await hash()).not.toBe(before);
});

it('other recipes and texts for people change nothing', async () => {
  const before = await hash();
  await writeFile(join(recipes, 'other/recipe.yaml'), 'x');
  await writeFile(join(recipes, 'guest/README.md'), 'x');
  expect(await hash()).toBe(before);
});

it('another processor is another image', async () => {
  expect(await hashRecipe('tiny', { recipes, architecture: 'arm64' })).not.toBe(await hash());
});
