import { ensureOwner } from '../apps/server/src/identity/index.ts';
import { migrateDatabase } from '../apps/server/src/kernel/database/migrate.ts';
import { createRun } from '../apps/server/src/runs/index.ts';
import { readFinished, type Finished } from './agents-journal.ts';
import type { Work } from './agents-model.ts';
import { openAgentsRuns } from './agents-runs.ts';
import { noteUser } from './agents-users.ts';
import type { AgentsWorkerCalls, WorkerReport } from './agents-worker.ts';
import { ChildCalls } from './child-calls.ts';
import { residentMb } from './report.ts';

const LIMIT_MS = 300_000;
const LOOK_EVERY_MS = 20;

/** A database with workers, each a process of its own. */
export interface AgentsInstallation {
  /** Starts a task and waits for its end. */
  run: (work: Work) => Promise<Ran>;
  /** What each worker has noted since the last report. */
  report: () => Promise<WorkerReport[]>;
  close: () => Promise<void>;
}
export interface Ran extends Finished {
  /** The most that the first worker's process held meanwhile, in MB. */
  peakMb: number;
}

export async function openAgentsInstallation(
  databaseUrl: string,
  { workers, slots }: { workers: number; slots: number },
): Promise<AgentsInstallation> {
  await migrateDatabase(databaseUrl);
  const children = Array.from(
    { length: workers },
    () => new ChildCalls<AgentsWorkerCalls>('agents-worker.ts'),
  );
  const endWorkers = noteUser(() => Promise.all(children.map((child) => child.stop())));
  // One after the other: each opens the queue's tables, which the first makes.
  for (const child of children) await child.call('start', { databaseUrl, slots });
  const { runs, close } = await openAgentsRuns(databaseUrl, { isWorker: false });
  const endRuns = noteUser(close);
  const { database } = runs;
  const { id: userId } = await ensureOwner(database);
  return {
    run: async (work) => {
      const { taskId } = await createRun(runs, { userId, text: JSON.stringify(work), source: 'bench' });
      const until = performance.now() + LIMIT_MS;
      let peakMb = 0;
      for (;;) {
        peakMb = Math.max(peakMb, residentMb(children[0]?.pid ?? 0));
        const { rows } = await database.pool.query(
          'select 1 from vitto_tasks where id = $1 and ended_at is not null',
          [taskId],
        );
        if (rows.length > 0) break;
        if (performance.now() > until) throw new Error(`a task did not end within ${LIMIT_MS / 1000} s`);
        await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
      }
      return { ...(await readFinished(database, taskId, readsOf(work))), peakMb };
    },
    report: () => Promise.all(children.map((child) => child.call('report', undefined))),
    close: async () => {
      await Promise.all(children.map((child) => child.call('stop', undefined))).finally(endWorkers);
      await endRuns();
    },
  };
}

function readsOf(work: Work): number {
  return 'reads' in work ? work.reads : readsOf(work.each);
}
