// Sub-Vittos: how soon they begin, a hundred of one task, parents of parents on two slots, two workers at once; a
// hundred of LangGraph.js beside them. Model and tool answer at once; workers are processes of their own.
import { SUB_VITTO_LIMITS } from '../apps/server/src/runs/testing/test-orchestrator.ts';
import { measureHundred } from './agents-hundred.ts';
import type { Work } from './agents-model.ts';
import { printAgents } from './agents-report.ts';
import { openAgentsInstallation, type AgentsInstallation, type Ran } from './agents-runner.ts';
import { measureSpawning } from './agents-spawning.ts';
import { endUsers } from './agents-users.ts';
import { readBenchOptions } from './bench-options.ts';
import { openBenchPostgres } from './bench-postgres.ts';
import { installPeers } from './install-peers.ts';
import { describeMachine, say } from './report.ts';

/** As a worker has them by default. */
const SLOTS = 10;
const { maxParallel } = SUB_VITTO_LIMITS;
const READS = 4;
/** Five parents with five children each, below one task. */
const NESTED: Work = { deploy: 5, each: { deploy: 5, each: { reads: 1 } } };

const options = readBenchOptions('bench:agents', {
  rounds: { full: 50, quick: 2 },
  count: { full: 100, quick: 10 },
  runs: { full: 7, quick: 1 },
});
const { rounds, count, runs } = options.numbers;
const machine = describeMachine();
await installPeers();
const postgres = await openBenchPostgres(endUsers);
try {
  const hundredOptions = { postgres, count, reads: READS, maxParallel, slots: SLOTS, runs };
  const spawning = await withWorkers(1, SLOTS, (one) => measureSpawning(one, { rounds, maxParallel }));
  const { hundred, peers } = await measureHundred(hundredOptions);
  const nested = await withWorkers(1, 2, (one) => runAll(one, NESTED));
  const twoWorkers = await withWorkers(2, SLOTS, (two) =>
    runAll(two, { deploy: count, each: { reads: READS } }),
  );
  const faults = [spawning, ...hundred, ...nested, ...twoWorkers].flatMap((part) => part.faults);
  for (const { mostSubVittosRunning } of [...hundred, ...nested, ...twoWorkers])
    if (mostSubVittosRunning > maxParallel) faults.push(`${mostSubVittosRunning} ran at once`);
  const measured = { spawning: spawning.times, hundred, peers, nested, twoWorkers, faults };
  printAgents(measured, { ...options, reads: READS, machine, database: postgres.description });
  process.exitCode = faults.length === 0 ? 0 : 1;
} finally {
  await postgres.close();
}

async function withWorkers<T>(
  workers: number,
  slots: number,
  work: (installation: AgentsInstallation) => Promise<T>,
): Promise<T> {
  const installation = await openAgentsInstallation(await postgres.createDatabase(), { workers, slots });
  try {
    return await work(installation);
  } finally {
    await installation.close();
  }
}

/** The same task again and again; the first time does not count. */
async function runAll({ run }: AgentsInstallation, work: Work): Promise<Ran[]> {
  const ran: Ran[] = [];
  for (let round = 0; round <= runs; round += 1) {
    say(`${JSON.stringify(work)}, ${round === 0 ? 'warming up' : `run ${round} of ${runs}`}`);
    ran.push(await run(work));
  }
  return ran.slice(1);
}
