import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../kernel/clock.ts';
import type { Database } from '../../kernel/database/database.ts';
import { silentLogger } from '../../kernel/logger.ts';
import { FakeProvider } from '../providers/fake/fake-provider.ts';
import { LocalSandboxHost } from './local-sandbox-host.ts';

const LONG_MS = 3_600_000;

/** A real host on a real database, with fake VMs, room for one of them and the image `minimal`. */
export async function openTestHost(
  database: Database,
): Promise<{ host: LocalSandboxHost; close: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'vitto-host-'));
  const image = { name: 'minimal', hash: 'a'.repeat(64), folder: '/nowhere' };
  const described = {
    state: 'ready',
    bytes: 1,
    builtAt: null,
    hasBaseSnapshot: false,
    progress: null,
  } as const;
  const host = new LocalSandboxHost({
    folder,
    name: 'test',
    url: null,
    database,
    provider: new FakeProvider(),
    images: {
      find: async (name) => (name === image.name ? image : null),
      build: async () => image,
      list: async () => [{ name: image.name, hash: image.hash, problem: null, ...described }],
    },
    clock: systemClock,
    logger: silentLogger,
    policy: {
      reuseActive: true,
      lingerMs: LONG_MS,
      snapshotOnRelease: true,
      maxLifetimeMs: LONG_MS,
      hardLifetimeMs: LONG_MS,
    },
    maxConcurrent: 1,
    snapshotMaxAgeDays: 7,
    usualTemplate: image.name,
    sizesOf: async () => ({ memoryMib: 128, cpus: 1, diskGib: 1 }),
    policyOf: async () => ({ packageRegistries: false, hosts: [] }),
  });
  await host.start();
  return {
    host,
    close: async () => {
      await host.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
