import { mkdir, mkdtemp, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FakeServer } from './testing/fake-server.ts';
import { runVitto } from './testing/run-vitto.ts';

let server: FakeServer;
let folder: string;
beforeEach(async () => {
  server = await new FakeServer().start();
  folder = await mkdtemp(join(tmpdir(), 'vitto-skill-'));
  await writeFile(join(folder, 'SKILL.md'), '---\nname: pdf-tools\ndescription: Fills forms.\n---\n# How\n');
});
afterEach(() => server.stop());

test('a folder goes in with its files, is listed, and is deleted', async () => {
  await mkdir(join(folder, 'scripts', '__pycache__'), { recursive: true });
  await writeFile(join(folder, 'scripts', 'fill.py'), 'print("¡hola!")');
  await writeFile(join(folder, 'scripts', '__pycache__', 'fill.pyc'), 'x');
  await symlink('scripts/fill.py', join(folder, 'again.py'));
  const added = await runVitto(['skills', 'add', folder], server);
  expect(added).toMatchObject({ code: 0, stdout: '' });
  expect(added.stderr).toContain('Added pdf-tools with 2 files.');
  expect(server.requests('PUT', '/api/skills/pdf-tools')[0]?.body).toEqual({
    text: '---\nname: pdf-tools\ndescription: Fills forms.\n---\n# How\n',
    files: ['again.py', 'scripts/fill.py'].map((path) => ({
      path,
      content: Buffer.from('print("¡hola!")').toString('base64'),
    })),
  });
  expect((await runVitto(['skills'], server)).stdout).toMatch(/^pdf-tools +on +what it is for\n$/);
  expect(JSON.parse((await runVitto(['skills', 'ls', '--json'], server)).stdout)).toMatchObject({
    items: [{ name: 'pdf-tools' }],
  });
  expect(await runVitto(['skills', 'rm', 'pdf-tools'], server)).toMatchObject({ code: 0 });
  expect((await runVitto(['skills', 'rm', 'pdf-tools'], server)).code).not.toBe(0);
  expect((await runVitto(['skills', 'ls'], server)).stderr).toContain('skills add FOLDER');
});

test('links that lead out, circles, and what is no skill are refused before anything is sent', async () => {
  const elsewhere = await mkdtemp(join(tmpdir(), 'vitto-elsewhere-'));
  await writeFile(join(elsewhere, 'secret'), 'x');
  const refused = async (path: string, reason: string) => {
    const run = await runVitto(['skills', 'add', path], server);
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(run.stderr).toContain(reason);
  };
  await refused(elsewhere, 'no SKILL.md');
  await refused(join(folder, 'nothing'), 'cannot be read');
  await refused(join(folder, 'SKILL.md'), 'is no folder');
  await symlink(join(elsewhere, 'secret'), join(folder, 'out'));
  await refused(folder, 'leads out of the folder');
  const round = await mkdtemp(join(tmpdir(), 'vitto-round-'));
  await symlink('.', join(round, 'self'));
  await refused(round, 'a folder that it lies in');
  const large = await mkdtemp(join(tmpdir(), 'vitto-large-'));
  await writeFile(join(large, 'big.bin'), Buffer.alloc(512 * 1024 + 1));
  await refused(large, 'larger than');
  expect(server.received).toEqual([]);
});
