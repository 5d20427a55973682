import { expect, it } from 'vitest';
import { MAX_FOLDERS, readFolder } from './read-folder.ts';

it('takes an absolute path, without what stands around it', () => {
  expect(readFolder('  /home/ana/my project/ \n', [])).toEqual({
    kind: 'path',
    path: '/home/ana/my project',
  });
  expect(readFolder('/srv//', [])).toEqual({ kind: 'path', path: '/srv' });
});

it('leaves it to the server to refuse the root', () => {
  expect(readFolder('/', [])).toEqual({ kind: 'path', path: '/' });
});

it('refuses what is not absolute: the server has no folder to begin from', () => {
  for (const text of ['project', './project', '~/project', '', '   ', 'C:\\project'])
    expect(readFolder(text, []), text).toEqual({ kind: 'refused', reason: 'not-absolute' });
});

it('refuses what is there already, however it ends, and more than the server takes', () => {
  expect(readFolder('/srv/a/', ['/srv/a'])).toEqual({ kind: 'refused', reason: 'known' });
  const many = Array.from({ length: MAX_FOLDERS }, (_, at) => `/srv/${at}`);
  expect(readFolder('/srv/one-more', many)).toEqual({ kind: 'refused', reason: 'too-many' });
  expect(readFolder('/srv/3', many)).toEqual({ kind: 'refused', reason: 'known' });
});
