import { systemClock } from '../../kernel/clock.ts';
import { FakeProvider } from '../../sandbox/providers/fake/fake-provider.ts';
import { LocalSandboxHost } from '../../sandbox/index.ts';
import { createSandboxServer } from '../http/create-sandbox-server.ts';
import { readConfig } from '../config.ts';
import { listenOn } from '../listen-on.ts';
import { openInstallation } from '../open-installation.ts';
import { join } from 'node:path';

/** A sandbox host of tests as a process of its own: real HTTP, real database, sessions as they are, and VMs that start in no time. */
const config = readConfig();
const installation = await openInstallation(config);
const { database, logger, dataRoot } = installation;
const image = { name: 'developer', hash: 'a'.repeat(64), folder: '/nowhere' };
const host = new LocalSandboxHost({
  folder: join(dataRoot, 'vm'),
  name: process.env['HOST_NAME'] ?? 'a host',
  url: null,
  database,
  provider: new FakeProvider(),
  images: {
    find: async () => image,
    build: async () => image,
    list: async () => [
      {
        name: image.name,
        hash: image.hash,
        state: 'ready',
        bytes: 1,
        builtAt: null,
        hasBaseSnapshot: false,
        progress: null,
        problem: null,
      },
    ],
  },
  clock: systemClock,
  logger,
  policy: {
    reuseActive: config.sandbox.reuseActive,
    lingerMs: config.sandbox.lingerMs,
    snapshotOnRelease: true,
    maxLifetimeMs: config.sandbox.maxLifetimeMs,
    hardLifetimeMs: config.sandbox.hardLifetimeMs,
  },
  maxConcurrent: 4,
  snapshotMaxAgeDays: 7,
  usualTemplate: image.name,
  sizesOf: async () => ({ memoryMib: 128, cpus: 1, diskGib: 1 }),
  policyOf: async () => ({ packageRegistries: false, hosts: [] }),
});
await host.start();
const app = await createSandboxServer({ host, token: config.sandbox.token ?? '', database, logger });
const url = await listenOn(app, config.host, config.port);
process.stdout.write(`Vitto is ready: ${url}\n`);
process.on('SIGTERM', () => {
  void app
    .close()
    .then(() => host.stop())
    .then(() => installation.close())
    .then(() => process.exit(0));
});
