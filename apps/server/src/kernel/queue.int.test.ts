import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase } from './database/testing.ts';
import { silentLogger } from './logger.ts';
import { WakeQueue } from './queue.ts';

let made: Awaited<ReturnType<typeof createTestDatabase>>;
let queue: WakeQueue;
beforeAll(async () => {
  made = await createTestDatabase();
  queue = new WakeQueue({ url: made.url, logger: silentLogger, isWorker: true });
  await queue.start();
});
afterAll(async () => {
  await queue.stop();
  await made.drop();
});

it('works off a backlog of tiny tasks without a pause between them, never more at once than it has slots', async () => {
  const tasks = Array.from({ length: 200 }, (_, index) => `task-${index}`);
  for (const task of tasks) await queue.wake(task);
  const done = new Set<string>();
  let atOnce = 0;
  let most = 0;
  const started = performance.now();
  await new Promise<void>((resolve, reject) => {
    queue
      .work(4, async (task) => {
        most = Math.max(most, (atOnce += 1));
        await new Promise((next) => setTimeout(next, 2));
        atOnce -= 1;
        done.add(task);
        if (done.size === tasks.length) resolve();
      })
      .catch(reject);
  });
  const took = performance.now() - started;
  expect(done).toEqual(new Set(tasks));
  expect(most).toBeLessThanOrEqual(4);
  // With a second's pause after each job, four slots need fifty seconds (measured: 48.5 s; 2.5 s without).
  expect(took).toBeLessThan(15_000);
});
