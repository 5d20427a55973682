// How long it takes from the start of the program to the first answer that says "ready": with nothing there yet but
// the packages and the web app, and then again with the database that the first start has made.
import { join } from 'node:path';
import { makeBenchFolder } from './bench-folder.ts';
import { readBenchOptions } from './bench-options.ts';
import { findFreePort, InstallationProcess, type Start } from './installation-process.ts';
import { describeMachine, figure, machineLine, say, toTable } from './report.ts';
import { median } from './statistics.ts';

/** The aim for a start that finds its database, in seconds. */
const AIM_SECONDS = 3;
/** The first one of all may install packages and build the web app. */
const FIRST_LIMIT_MS = 15 * 60_000;
const LIMIT_MS = 120_000;

const options = readBenchOptions('bench:start', { runs: { full: 5, quick: 1 } });
const { runs } = options.numbers;
const machine = describeMachine();
const folder = await makeBenchFolder();
let running: InstallationProcess | null = null;
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void cleanUp().finally(() => process.exit(130)));

const first: Start[] = [];
const second: Start[] = [];
try {
  say('one start that is not counted: it brings packages and web app up to date');
  await startAndStop('warm-up', FIRST_LIMIT_MS);
  for (let run = 1; run <= runs; run += 1) {
    say(`run ${run} of ${runs}`);
    first.push(await startAndStop(`home-${run}`, LIMIT_MS));
    second.push(await startAndStop(`home-${run}`, LIMIT_MS));
  }
} finally {
  await cleanUp();
}
print();

async function startAndStop(home: string, limitMs: number): Promise<Start> {
  running = new InstallationProcess(join(folder.path, home), await findFreePort());
  const figures = await running.untilReady(limitMs);
  await end();
  return figures;
}

async function end(): Promise<void> {
  const process = running;
  running = null;
  await process?.stop();
}

async function cleanUp(): Promise<void> {
  await end().finally(folder.remove);
}

function summarise(starts: Start[]) {
  const seconds = starts.map((start) => start.seconds);
  return {
    seconds: { median: median(seconds), min: Math.min(...seconds), max: Math.max(...seconds) },
    residentMb: median(starts.map((start) => start.residentMb)),
  };
}

function print(): void {
  const results = { first: summarise(first), second: summarise(second) };
  const isHeld = results.second.seconds.median < AIM_SECONDS;
  if (options.isJson) {
    const result = {
      bench: 'start',
      ...options,
      aimSeconds: AIM_SECONDS,
      isHeld,
      machine,
      ...results,
      runs: { first, second },
    };
    process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
    return;
  }
  const row = (name: string, { seconds, residentMb }: ReturnType<typeof summarise>) => [
    name,
    figure(seconds.median),
    figure(seconds.min),
    figure(seconds.max),
    figure(residentMb),
  ];
  const rows = [
    row('first: makes its database', results.first),
    row('second: finds its database', results.second),
  ];
  process.stdout.write(
    `${[
      `Start: from the process to the first 200 of /readyz, with a local PostgreSQL; medians of ${runs} runs.`,
      machineLine(machine),
      ...(options.isQuick ? ['A QUICK RUN: these figures mean nothing.'] : []),
      '',
      toTable(['start', 'seconds', 'min', 'max', 'memory MB'], rows),
      '',
      `Aim: a second start under ${AIM_SECONDS} s at the median: ${isHeld ? 'held' : 'NOT HELD'}.`,
    ].join('\n')}\n`,
  );
}
