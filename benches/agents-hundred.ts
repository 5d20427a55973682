import { noteUser } from './agents-users.ts';
import type { Ran } from './agents-runner.ts';
import { openAgentsInstallation } from './agents-runner.ts';
import type { BenchPostgres } from './bench-postgres.ts';
import { say } from './report.ts';
import { SubjectProcess } from './subject-process.ts';

export interface HundredOptions {
  postgres: BenchPostgres;
  /** Sub-Vittos of the task, turns with a read that each has, at once at most, runs that count. */
  count: number;
  reads: number;
  maxParallel: number;
  slots: number;
  runs: number;
}

/** One run, with what the worker's process held and did. MB; the heap is what cannot be let go. */
export interface HundredRun extends Ran {
  residentMb: { before: number; after: number };
  heapMb: { before: number; after: number };
  statements: number;
  cpuMs: number;
}

/** Another program that did the same. */
export interface PeerRuns {
  name: string;
  version: string | null;
  persists: string;
  ms: number[];
  cpuMs: number[];
  /** `null`: it has no database. */
  statements: number[] | null;
}

const PEERS = [
  { saver: 'postgres-async', needsDatabase: true },
  { saver: 'postgres-sync', needsDatabase: true },
  { saver: 'memory', needsDatabase: false },
];
/** No peer may call home. */
const QUIET = { LANGSMITH_TRACING: 'false', LANGCHAIN_TRACING_V2: 'false', DO_NOT_TRACK: '1' };

/** Many sub-Vittos of one task, in turns with peers that do the same; the first run of each does not count. */
export async function measureHundred(
  options: HundredOptions,
): Promise<{ hundred: HundredRun[]; peers: PeerRuns[] }> {
  const { postgres, count, reads, slots, runs } = options;
  const peers: StartedPeer[] = [];
  const url = await postgres.createDatabase();
  const installation = await openAgentsInstallation(url, { workers: 1, slots });
  try {
    for (const peer of PEERS) peers.push(await startPeer(options, peer));
    const hundred: HundredRun[] = [];
    for (let round = -1; round < runs; round += 1) {
      say(`${count} of one task, ${round < 0 ? 'warming up' : `run ${round + 1} of ${runs}`}`);
      const [before] = await installation.report();
      const ran = await installation.run({ deploy: count, each: { reads } });
      const [after] = await installation.report();
      if (before === undefined || after === undefined) throw new Error('the worker said nothing');
      const readsRan = after.reads - before.reads;
      if (readsRan !== count * reads) ran.faults.push(`${readsRan} reads ran, not ${count * reads}`);
      const measured = {
        ...ran,
        residentMb: { before: before.residentMb, after: after.residentMb },
        heapMb: { before: before.heapMb, after: after.heapMb },
        statements: after.statements - before.statements,
        cpuMs: after.cpuMs - before.cpuMs,
      };
      if (round >= 0) hundred.push(measured);
      for (const { process, its } of peers) await runPeer(process, round < 0 ? null : its, count * reads);
    }
    return { hundred, peers: peers.map(({ its }) => its) };
  } finally {
    await Promise.all([installation.close(), ...peers.map(({ end }) => end())]);
  }
}

interface StartedPeer {
  process: SubjectProcess;
  its: PeerRuns;
  end: () => Promise<unknown>;
}

async function startPeer(
  { postgres, count, maxParallel }: HundredOptions,
  { saver, needsDatabase }: (typeof PEERS)[number],
): Promise<StartedPeer> {
  const database = needsDatabase ? { BENCH_DATABASE_URL: await postgres.createDatabase() } : {};
  const command = ['peers/langgraph-fan-out.mjs', saver, String(count), String(maxParallel)];
  const process = new SubjectProcess(command, { ...QUIET, ...database });
  const end = noteUser(() => process.stop());
  const { name, version, persists } = await process.start();
  const its = { name, version, persists, ms: [], cpuMs: [], statements: needsDatabase ? [] : null };
  return { process, its, end };
}

async function runPeer(process: SubjectProcess, its: PeerRuns | null, steps: number): Promise<void> {
  const cost = await process.run(steps);
  its?.ms.push(cost.ms * steps);
  its?.cpuMs.push(cost.cpuMs * steps);
  if (cost.statements !== null) its?.statements?.push(cost.statements * steps);
}
