import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { RunDependencies } from '../runs/index.ts';
import { startDemo } from './start-demo.ts';

it('starts and fetches nothing where there is no sandbox, and says what to install', async () => {
  const cache = await mkdtemp(join(tmpdir(), 'vitto-start-demo-'));
  const starting = startDemo(
    {
      runs: null as unknown as RunDependencies,
      cache,
      probeSandbox: async () => ({
        available: false,
        reason: 'The process sandbox needs bwrap.',
        hint: 'Install: apt-get install bubblewrap',
      }),
    },
    { userId: 'u', source: 'web' },
  );
  await expect(starting).rejects.toMatchObject({
    code: 'demo.no-sandbox',
    status: 503,
    message: 'The demo needs the sandbox: the process sandbox needs bwrap.',
    hint: 'Install: apt-get install bubblewrap',
  });
  expect(await readdir(cache)).toEqual([]);
  await rm(cache, { recursive: true });
});
