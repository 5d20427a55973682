import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fetchPackage, type PackPackage } from './fetch-package.ts';

const integrity = `sha512-${createHash('sha512').update('the tarball').digest('base64')}`;
const wanted = { name: '@some/thing', version: '1.2.3', integrity };

let cache: string;
let asked: string[];
beforeEach(async () => {
  cache = join(await mkdtemp(join(tmpdir(), 'vitto-fetch-')), 'cache');
  asked = [];
});
afterEach(() => rm(join(cache, '..'), { recursive: true }));

const packs =
  (content: string): PackPackage =>
  async (spec, folder) => {
    asked.push(spec);
    await writeFile(join(folder, 'some-thing-1.2.3.tgz'), content);
  };
const offline: PackPackage = () =>
  Promise.reject(
    Object.assign(new Error('npm failed'), {
      code: 1,
      stderr: 'npm error code ENOTFOUND\nnpm error request to https://me:secret@registry.example/ failed\n',
    }),
  );

describe('fetching a package', () => {
  it('asks the registry once and then lives on the cache', async () => {
    const file = await fetchPackage(wanted, cache, packs('the tarball'));
    expect(await fetchPackage(wanted, cache, offline)).toBe(file);
    expect(await readFile(file, 'utf8')).toBe('the tarball');
    expect(asked).toEqual(['@some/thing@1.2.3']);
    expect(await readdir(cache)).toEqual(['@some-thing-1.2.3.tgz']);
  });

  it('fetches again what was damaged in the cache', async () => {
    const file = await fetchPackage(wanted, cache, packs('the tarball'));
    await writeFile(file, 'something else');
    await fetchPackage(wanted, cache, packs('the tarball'));
    expect(await readFile(file, 'utf8')).toBe('the tarball');
  });

  it('uses and keeps nothing whose content is not the expected one', async () => {
    const fetching = fetchPackage(wanted, cache, packs('a tarball with more in it'));
    await expect(fetching).rejects.toMatchObject({ code: 'demo.package-changed' });
    expect(await readdir(cache)).toEqual([]);
  });

  it('says without network and cache what is missing, and repeats no address', async () => {
    const fetching = fetchPackage(wanted, cache, offline);
    await expect(fetching).rejects.toMatchObject({
      code: 'demo.package-unavailable',
      message: expect.stringMatching(/@some\/thing@1\.2\.3.*npm says ENOTFOUND/) as string,
      hint: expect.stringContaining('npm ping') as string,
    });
    await expect(fetching).rejects.not.toThrow(/secret/);
    expect(await readdir(cache)).toEqual([]);
  });
});
