import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemStatus } from '@vitto/contracts';
import { createHttpTestbed, type HttpTestbed } from './testing/http-testbed.ts';
import { joinProcesses } from '../../kernel/process-registry.store.ts';
import { readSystemStatus } from '../../ops/index.ts';

let bed: HttpTestbed;
beforeAll(async () => {
  bed = await createHttpTestbed();
});
afterAll(() => bed.close());

it('tells of processes with what they run, the queue of everybody, and the database', async () => {
  const self = await joinProcesses(bed.database, { roles: ['worker'], version: '1' });
  const mine = await bed.createTask(bed.owner.userId);
  await bed.database.pool.query('update vitto_tasks set lease_holder = $2 where id = $1', [mine, self.id]);
  const theirs = await bed.createTask(bed.stranger.userId);
  await bed.database.pool.query(
    `update vitto_tasks set state = 'queued', lease_holder = null, lease_until = null, created_at = now() - interval '2 minutes'
     where id = $1`,
    [theirs],
  );
  const status = await readSystemStatus(
    {
      database: bed.database,
      databaseKind: 'external',
      probeSandbox: async () =>
        ({ available: false, reason: 'none', hint: null, memoryLimit: null }) as never,
      sandboxHosts: () => Promise.resolve([]),
      template: 'developer',
      modelStatus: () => Promise.resolve([]),
      version: '1',
      startedAt: new Date(),
      roles: ['server'],
    },
    bed.owner.userId,
  );
  await self.leave();
  expect(systemStatus.parse(status)).toEqual(status);
  expect(status.processes).toMatchObject([{ id: self.id, isAlive: true, runningTasks: 1 }]);
  expect(status.queue).toMatchObject({ queued: 1, running: 1, waiting: 0 });
  expect(status.queue.oldestQueuedMs).toBeGreaterThanOrEqual(120_000);
  expect(status.components.find((part) => part.name === 'queue')?.state).toBe('degraded');
  // The user's own tasks only.
  expect(status.tasks).toEqual({ running: 1 });
  expect(status.database.bytes).toBeGreaterThan(1_000_000);
  expect(status.database.maxConnections).toBeGreaterThan(status.database.connections);
});
