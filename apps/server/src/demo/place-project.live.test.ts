import { execFileSync } from 'node:child_process';
import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { placeProject, sweepOldProjects } from './place-project.ts';

let bench: string;
beforeEach(async () => {
  bench = await mkdtemp(join(tmpdir(), 'vitto-place-'));
  await mkdir(join(bench, 'package/test'), { recursive: true });
  await writeFile(join(bench, 'package/index.js'), 'module.exports = 1\n', { mode: 0o600 });
  await writeFile(join(bench, 'package/test/test.js'), '');
});
afterEach(() => rm(bench, { recursive: true }));

/** A tarball of names below the bench, as they are. */
function pack(...names: string[]): string {
  const file = join(bench, 'thing.tgz');
  execFileSync('tar', ['-P', '-czf', file, ...names], { cwd: join(bench) });
  return file;
}
const modeOf = async (path: string) => ((await lstat(path)).mode & 0o777).toString(8);
const placedFolders = async () => (await readdir(tmpdir())).filter((name) => name.startsWith('vitto-demo-'));

describe('placing a project', () => {
  it('lays it in a folder that every user may read, and removes it again', async () => {
    await chmod(join(bench, 'package/test'), 0o700);
    const { folder, remove } = await placeProject(pack('package'), '@some/thing');
    expect(await readFile(join(folder, 'index.js'), 'utf8')).toBe('module.exports = 1\n');
    expect(await modeOf(join(folder, 'index.js'))).toBe('644');
    for (const path of [folder, join(folder, 'test'), dirname(folder)])
      expect(await modeOf(path)).toBe('755');
    await remove();
    await expect(lstat(dirname(folder))).rejects.toThrow();
  });

  it('refuses links and leaves nothing behind', async () => {
    await symlink('/etc/passwd', join(bench, 'package/readme'));
    const before = await placedFolders();
    await expect(placeProject(pack('package'), 'thing')).rejects.toMatchObject({
      code: 'demo.package-unsafe',
    });
    expect(await placedFolders()).toEqual(before);
  });

  it('writes nothing outside its folder', async () => {
    const name = 'package/../../../../vitto-escaped.txt';
    await writeFile(join(bench, 'package', 'x'), '');
    const tarball = join(bench, 'evil.tgz');
    execFileSync('tar', ['-P', '-czf', tarball, `--transform=s#^package/x$#${name}#`, 'package/x'], {
      cwd: bench,
    });
    expect(execFileSync('tar', ['-P', '-tzf', tarball], { encoding: 'utf8' })).toBe(`${name}\n`);
    await expect(placeProject(tarball, 'thing')).rejects.toMatchObject({ code: 'demo.package-unsafe' });
    for (const path of [bench, dirname(bench), '/'])
      expect(await readdir(path)).not.toContain('vitto-escaped.txt');
  });

  it('refuses what is no tarball', async () => {
    await writeFile(join(bench, 'thing.tgz'), 'a page that a proxy made');
    const placing = placeProject(join(bench, 'thing.tgz'), 'thing');
    await expect(placing).rejects.toMatchObject({ code: 'demo.package-unsafe' });
  });

  it('sweeps the old ones only', async () => {
    const [old, young, other] = ['vitto-demo-old', 'vitto-demo-young', 'somebody-else'].map((name) =>
      join(bench, name),
    ) as [string, string, string];
    for (const path of [old, young, other]) await mkdir(path);
    const yesterday = new Date(Date.now() - 86_400_000);
    for (const path of [old, other]) await utimes(path, yesterday, yesterday);
    await symlink(other, join(bench, 'vitto-demo-link'));
    await sweepOldProjects(bench, 3_600_000);
    const left = (await readdir(bench)).filter((name) => /demo|else/.test(name)).sort();
    expect(left).toEqual(['somebody-else', 'vitto-demo-link', 'vitto-demo-young']);
  });
});
