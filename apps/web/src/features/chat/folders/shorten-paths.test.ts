import { expect, it } from 'vitest';
import { shortenPaths } from './shorten-paths.ts';

it('names a folder by its last name', () => {
  expect(shortenPaths(['/home/ana/project', '/srv/data'])).toEqual(['…/project', '…/data']);
});

it('says more where the last names are the same', () => {
  expect(shortenPaths(['/home/ana/old/app', '/home/ana/new/app'])).toEqual(['…/old/app', '…/new/app']);
});

it('writes a path out when nothing shorter tells it from another', () => {
  expect(shortenPaths(['/app', '/home/app'])).toEqual(['/app', '/home/app']);
  expect(shortenPaths(['/srv', '/'])).toEqual(['/srv', '/']);
});
