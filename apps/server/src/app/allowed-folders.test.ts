import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { resolveAllowedPaths } from './allowed-folders.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'vitto-folders-')));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const home = join(root, 'home');
const project = join(root, 'project');
mkdirSync(home);
mkdirSync(project);
symlinkSync(project, join(root, 'link'));

describe('folders that a user allows', () => {
  it('are kept as they really lie', async () => {
    expect(await resolveAllowedPaths([join(root, 'link')], [home])).toEqual([project]);
  });

  it.each([
    ['/etc', 'what a sandbox must not see'],
    ['/run', 'what a sandbox must not see'],
    ['/proc/self', 'what a sandbox must not see'],
    ['/usr', 'a folder of its own there'],
    ['/home', 'a folder of its own there'],
    ['/tmp', 'something in it|a folder of its own there'],
    ['/', 'something in it must not be seen'],
    [home, 'what a sandbox must not see'],
    [root, 'something in it must not be seen'],
    [join(root, 'missing'), 'not an absolute path of a folder here'],
    ['relative', 'not an absolute path of a folder here'],
  ])('are refused at once where the sandbox would not show them: %s', async (path, why) => {
    await expect(resolveAllowedPaths([path], [home])).rejects.toMatchObject({
      code: 'path.not-allowed',
      status: 422,
      message: expect.stringMatching(why) as string,
    });
  });
});
