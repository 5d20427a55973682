import type { AgentsInstallation } from './agents-runner.ts';
import { say } from './report.ts';

/** Times of rounds of one size, a figure for each sub-Vitto, in milliseconds from when `deploy_agents` began. */
export interface SpawnTimes {
  size: number;
  /** The first event of its journal was read back over another connection. */
  firstEventMs: number[];
  /** Of those with a place at once: a slot of the worker had its job; its `task.started` was committed. */
  pickedMs: number[];
  startedMs: number[];
  /** `task.started` of those that waited for a place. */
  inLineMs: number[];
}

const SIZES = [1, 5, 20];
const WARM_UP_ROUNDS = 5;

/** Rounds of sub-Vittos that answer at once; the sizes take turns. */
export async function measureSpawning(
  { run, report }: AgentsInstallation,
  { rounds, maxParallel }: { rounds: number; maxParallel: number },
): Promise<{ times: SpawnTimes[]; faults: string[] }> {
  const times = SIZES.map((size): SpawnTimes => ({
    size,
    firstEventMs: [],
    pickedMs: [],
    startedMs: [],
    inLineMs: [],
  }));
  const faults: string[] = [];
  for (let round = -WARM_UP_ROUNDS; round < rounds; round += 1) {
    if (round % 10 === 0) say(`spawning, round ${Math.max(0, round)} of ${rounds}`);
    for (const its of times) {
      faults.push(...(await run({ deploy: its.size, each: { reads: 0 } })).faults);
      const [noted] = await report();
      if (round >= 0 && noted !== undefined) note(its, noted, maxParallel);
    }
  }
  return { times, faults };
}

type Noted = Awaited<ReturnType<AgentsInstallation['report']>>[number];

function note(times: SpawnTimes, { deployed: [deployed], started }: Noted, maxParallel: number): void {
  if (deployed === undefined) throw new Error('nothing was deployed');
  const { begunMs, readMs, ids } = deployed;
  ids.forEach((id, index) => {
    const its = started.find(({ taskId }) => taskId === id);
    if (its === undefined) throw new Error(`${id} did not start`);
    times.firstEventMs.push(readMs - begunMs);
    if (index >= maxParallel) times.inLineMs.push(its.startedMs - begunMs);
    else {
      times.pickedMs.push(its.pickedMs - begunMs);
      times.startedMs.push(its.startedMs - begunMs);
    }
  });
}
