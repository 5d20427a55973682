import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { plantDefect } from './plant-defect.ts';

const defect = { file: 'index.js', right: 'a + b', wrong: 'a - b' };
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vitto-plant-'));
});
afterEach(() => rm(folder, { recursive: true }));
const place = (text: string) => writeFile(join(folder, 'index.js'), text);
const read = () => readFile(join(folder, 'index.js'), 'utf8');

describe('planting a defect', () => {
  it('replaces the one place and says its line', async () => {
    await place('// sum\nconst sum = (a, b) => a + b\n// $& stays\n');
    expect(await plantDefect(folder, { ...defect, wrong: 'a $& b' })).toBe(2);
    expect(await read()).toBe('// sum\nconst sum = (a, b) => a $& b\n// $& stays\n');
  });

  it.each([
    ['is not there', 'const sum = 0\n', /0 times/],
    ['stands there twice', 'a + b\na + b\n', /2 times/],
  ])('fails and changes nothing when the text %s', async (_, text, message) => {
    await place(text);
    const planting = plantDefect(folder, defect);
    await expect(planting).rejects.toMatchObject({ code: 'demo.defect-not-placed' });
    await expect(planting).rejects.toThrow(message);
    expect(await read()).toBe(text);
  });

  it('fails when the file is not there', async () => {
    await expect(plantDefect(folder, defect)).rejects.toThrow(/index\.js: the file is not there/);
  });
});
