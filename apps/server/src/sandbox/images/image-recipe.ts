import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { z } from 'zod';
import { templateName } from '@vitto/contracts';
import { AppError } from '../../kernel/app-error.ts';

/** Where this checkout keeps its recipes. */
export const RECIPES = fileURLToPath(new URL('../../../../../images', import.meta.url));

const debianName = z.string().regex(/^[a-z0-9][a-z0-9+.-]+$/, 'a name of a Debian package');
/** Absolute, of plain names: it becomes a part of command lines and of paths on the host. */
const guestPath = z.string().regex(/^(\/(?!\.{1,2}(\/|$))[\w.-]+)+$/, 'an absolute path of plain names');
/** What dpkg leaves out: a guest path that may hold `*`. */
const excludedPath = z
  .string()
  .regex(/^(\/(?!\.{1,2}(\/|$))[\w.*-]+)+$/, 'an absolute path, with * for any name');

const npmPackage = z.strictObject({
  name: z.string().regex(/^[a-z0-9-]+$/),
  version: z.string().regex(/^\d+\.\d+\.\d+$/, 'an exact version'),
  /** Of the package's archive: what the registry sends must be this. */
  integrity: z.string().regex(/^sha512-[A-Za-z0-9+/]{86}==$/, 'a sha512 integrity'),
  /** Where the package's content goes. */
  to: guestPath,
  /** Links to make, by where they are; relative targets. */
  links: z.record(guestPath, z.string().regex(/^[\w./-]+$/)).default({}),
});

const recipe = z.strictObject({
  name: templateName,
  suite: z.string().regex(/^[a-z]+$/, 'a Debian suite like "bookworm"'),
  /** Of a VM of this image, unless the host is told otherwise. */
  memoryMib: z.number().int().min(256).max(65_536),
  cpus: z.number().int().min(1).max(64),
  /** Size of the disk; it takes only what is written. */
  diskGib: z.number().int().min(1).max(1024),
  packages: z.array(debianName).min(1),
  npm: z.array(npmPackage).default([]),
  excludePaths: z
    .array(excludedPath)
    .default(['/usr/share/man/*', '/usr/share/doc/*', '/usr/share/locale/*', '/usr/share/info/*']),
});
export type ImageRecipe = z.output<typeof recipe>;
export type NpmPackage = ImageRecipe['npm'][number];

/** @throws AppError `image.bad-recipe` that names each field at fault. */
export function parseRecipe(text: string, name: string): ImageRecipe {
  const parsed = recipe.safeParse(readYaml(text, name));
  if (!parsed.success) {
    const errors = parsed.error.issues.map((issue) => ({
      path: issue.path.join('.'),
      message: issue.message,
    }));
    const first = errors[0];
    throw badRecipe(name, first === undefined ? 'cannot be read' : `${first.path}: ${first.message}`, errors);
  }
  if (parsed.data.name !== name) throw badRecipe(name, `calls itself "${parsed.data.name}"`);
  return parsed.data;
}

/** @throws AppError `image.unknown`, `image.bad-recipe` */
export async function readRecipe(name: string, recipes = RECIPES): Promise<ImageRecipe> {
  const names = await listRecipes(recipes);
  if (!names.includes(name)) {
    throw new AppError('image.unknown', `There is no image "${name}".`, {
      status: 404,
      hint: `There is: ${names.join(', ')}.`,
    });
  }
  return parseRecipe(await readFile(join(recipes, name, 'recipe.yaml'), 'utf8'), name);
}

/** Names of the recipes, in order. */
export async function listRecipes(recipes = RECIPES): Promise<string[]> {
  const entries = await readdir(recipes, { withFileTypes: true, recursive: false });
  const names: string[] = [];
  for (const entry of entries) {
    if (!entry.isDirectory() || !templateName.safeParse(entry.name).success) continue;
    if ((await readdir(join(recipes, entry.name))).includes('recipe.yaml')) names.push(entry.name);
  }
  return names.sort();
}

function readYaml(text: string, name: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    throw badRecipe(name, error instanceof Error ? error.message : 'is no YAML');
  }
}

function badRecipe(name: string, why: string, errors?: { path: string; message: string }[]): AppError {
  return new AppError('image.bad-recipe', `The recipe of "${name}" is wrong: ${why}`, {
    hint: `Correct images/${name}/recipe.yaml; docs/guides/vm-images.md says what it takes.`,
    ...(errors === undefined ? {} : { errors }),
  });
}
