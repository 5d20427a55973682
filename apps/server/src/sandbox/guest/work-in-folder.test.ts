import type { GuestSession } from '@vitto/contracts';
import { expect, it } from 'vitest';
import { workInFolder } from './work-in-folder.ts';

it('begins in its folder, whatever the call, and leaves whole paths alone', async () => {
  const asked: [string, unknown][] = [];
  const guest = new Proxy({ id: 'g', kind: 'vm', home: '/home/user' } as unknown as GuestSession, {
    get: (target, name) =>
      name in target
        ? target[name as keyof GuestSession]
        : (request: unknown) => Promise.resolve(void asked.push([String(name), request])),
  });
  const session = workInFolder(guest, '/home/user/work/t1');
  expect(session).toMatchObject({ id: 'g', kind: 'vm', home: '/home/user/work/t1' });
  await session.exec({ command: 'ls', timeoutMs: 1 });
  await session.exec({ command: 'ls', cwd: 'sub', timeoutMs: 1 });
  await session.startProcess({ command: 'x', cwd: '/srv' });
  await session.readFile({ path: 'a.txt', encoding: 'utf8' });
  await session.writeFile({ path: '/home/user/work/t2/b', content: '', encoding: 'utf8' });
  await session.listFiles({ path: '.' });
  await session.search({ path: '~/x', pattern: 'p', timeoutMs: 1 });
  expect(asked).toEqual([
    ['exec', { command: 'ls', cwd: '/home/user/work/t1', timeoutMs: 1 }],
    ['exec', { command: 'ls', cwd: '/home/user/work/t1/sub', timeoutMs: 1 }],
    ['startProcess', { command: 'x', cwd: '/srv' }],
    ['readFile', { path: '/home/user/work/t1/a.txt', encoding: 'utf8' }],
    ['writeFile', { path: '/home/user/work/t2/b', content: '', encoding: 'utf8' }],
    ['listFiles', { path: '/home/user/work/t1/.' }],
    ['search', { path: '~/x', pattern: 'p', timeoutMs: 1 }],
  ]);
});
