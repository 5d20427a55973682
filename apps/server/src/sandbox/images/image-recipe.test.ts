import { describe, expect, it } from 'vitest';
import { listRecipes, parseRecipe, readRecipe } from './image-recipe.ts';

const TINY = 'name: tiny\nsuite: bookworm\nmemoryMib: 512\ncpus: 1\ndiskGib: 1\npackages: [git, g++]\n';

describe('recipes', () => {
  it('of this checkout can all be read', async () => {
    expect(await listRecipes()).toEqual(['developer', 'minimal']);
    for (const name of await listRecipes()) expect(await readRecipe(name)).toMatchObject({ name });
  });

  it('leave out the texts for people unless they say otherwise', () => {
    expect(parseRecipe(TINY, 'tiny').excludePaths).toContain('/usr/share/man/*');
    expect(parseRecipe(`${TINY}excludePaths: []\n`, 'tiny').excludePaths).toEqual([]);
  });

  it.each([
    ['packages: [git, --option]', 'packages.1'],
    ['packages: ["a,b"]', 'packages.0'],
    ['packages: []', 'packages'],
    ['excludePaths: [/usr/../etc]', 'excludePaths.0'],
    ["excludePaths: ['/a b']", 'excludePaths.0'],
    ['suite: "bookworm; rm"', 'suite'],
    ['diskGib: 0', 'diskGib'],
    ['scripts: [x]', 'scripts'],
    ['npm: [{ name: x, version: ^1.0.0, integrity: sha1-x, to: /usr }]', 'npm.0.version'],
    ['npm: [{ name: x, version: 1.0.0, integrity: sha512-x, to: ../x }]', 'npm.0.to'],
  ])('are refused with the field at fault: %s', (line, path) => {
    const key = line.split(':')[0] ?? '';
    const text = TINY.split('\n')
      .filter((one) => !one.startsWith(`${key}:`))
      .join('\n');
    const parse = () => parseRecipe(`${text}${line}\n`, 'tiny');
    expect(parse).toThrow(expect.objectContaining({ code: 'image.bad-recipe' }) as Error);
    try {
      parse();
    } catch (error) {
      const { errors, message } = error as { errors: { path: string }[]; message: string };
      expect(`${errors.map((one) => one.path).join(' ')} ${message}`).toContain(path);
    }
  });

  it('are refused under another name, or when they are no YAML', () => {
    expect(() => parseRecipe(TINY, 'other')).toThrow('calls itself "tiny"');
    expect(() => parseRecipe('a: [', 'tiny')).toThrow(/^The recipe of "tiny" is wrong/);
  });

  it('that are not there are told with those that are', async () => {
    await expect(readRecipe('../minimal')).rejects.toMatchObject({
      code: 'image.unknown',
      hint: 'There is: developer, minimal.',
    });
  });
});
