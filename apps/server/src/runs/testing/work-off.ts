import type { RunHarness } from './run-harness.ts';

/**
 * Runs what is woken, as a worker with so many slots does, until nothing is left to run. Gives the most that ran at
 * once.
 */
export async function workOff(h: RunHarness, slots = 8, workerId = 'worker-1'): Promise<number> {
  const active = new Set<Promise<unknown>>();
  let most = 0;
  for (;;) {
    while (active.size < slots && h.woken.length > 0) {
      const id = h.woken.shift() ?? '';
      const run = h.run(id, undefined, workerId).finally(() => active.delete(run));
      active.add(run);
      most = Math.max(most, active.size);
    }
    if (active.size === 0) return most;
    await Promise.race(active);
  }
}
