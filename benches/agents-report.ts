import type { HundredRun, PeerRuns } from './agents-hundred.ts';
import type { Ran } from './agents-runner.ts';
import type { SpawnTimes } from './agents-spawning.ts';
import type { BenchOptions } from './bench-options.ts';
import { figure, machineLine, toTable, type MachineInfo } from './report.ts';
import { median, percentile } from './statistics.ts';

/** The limit of the specification, from the deploying call to the first event of each. */
const LIMIT_MS = 20;

export interface AgentsMeasured {
  spawning: SpawnTimes[];
  hundred: HundredRun[];
  peers: PeerRuns[];
  nested: Ran[];
  twoWorkers: Ran[];
  /** What was not as it must be, in any run. */
  faults: string[];
}

interface Setting extends BenchOptions<'rounds' | 'count' | 'runs'> {
  reads: number;
  machine: MachineInfo;
  database: string;
}

export function printAgents(measured: AgentsMeasured, setting: Setting): void {
  const { isJson, isQuick, machine, database } = setting;
  if (isJson) {
    const result = { bench: 'agents', ...setting, limitMs: LIMIT_MS, ...measured };
    process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
    return;
  }
  const lines = [
    'Sub-Vittos: a model and a tool that answer at once, workers as processes of their own.',
    machineLine(machine),
    database,
    ...(isQuick ? ['A QUICK RUN: these figures mean nothing.'] : []),
    '',
    ...describeSpawning(measured.spawning, setting),
    '',
    ...describeHundred(measured, setting),
    '',
    ...describeOthers(measured),
    '',
    measured.faults.length === 0
      ? 'In every run: none lost, none run twice, each told its parent once, results in the order they were deployed.'
      : `FAULTS (${measured.faults.length}): ${measured.faults.slice(0, 10).join('; ')}`,
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}

const both = (values: readonly number[]) =>
  values.length === 0 ? '–' : `${figure(median(values))} / ${figure(percentile(values, 0.99))}`;

function describeSpawning(spawning: SpawnTimes[], { numbers }: Setting): string[] {
  const rows = spawning.map((one) => [
    one.size,
    both(one.firstEventMs),
    both(one.pickedMs),
    both(one.startedMs),
    both(one.inLineMs),
    median(one.firstEventMs) < LIMIT_MS ? 'held' : 'NOT HELD',
  ]);
  const head = [
    'in a round',
    'first event',
    'job taken',
    'task.started',
    'started after waiting',
    `${LIMIT_MS} ms`,
  ];
  return [
    `From the call of deploy_agents, a figure for each sub-Vitto, median / p99 in ms, ${numbers.rounds} rounds of each size:`,
    '',
    toTable(head, rows),
    '',
    'First event: committed with the whole round, read back over another connection. Job taken and task.started: of those',
    'that have a place at once. Started after waiting: of the others, which wait for the end of earlier ones.',
  ];
}

function describeHundred({ hundred, peers }: AgentsMeasured, { numbers, reads }: Setting): string[] {
  const { count } = numbers;
  const steps = count * reads;
  const ms = hundred.map((one) => one.ms);
  const own = median(ms);
  const row = (
    name: string,
    times: number[],
    cpuMs: number[],
    statements: number[] | null,
    persists: string,
  ) => [
    name,
    figure(median(times)),
    `${figure(Math.min(...times))}–${figure(Math.max(...times))}`,
    figure((count * 1_000) / median(times)),
    figure((steps * 1_000) / median(times)),
    `${figure(median(times) / own)}x`,
    figure(median(cpuMs)),
    statements === null ? '–' : figure(median(statements) / count),
    persists,
  ];
  const persists = 'intent, result, budget, lease, parent’s journal; each write before it counts';
  const rows = [
    row(
      'Vitto',
      ms,
      hundred.map((one) => one.cpuMs),
      hundred.map((one) => one.statements),
      persists,
    ),
    ...peers.map((peer) => row(peer.name, peer.ms, peer.cpuMs, peer.statements, peer.persists)),
  ];
  const head = ['what', 'ms', 'min–max', 'tasks/s', 'steps/s', 'to Vitto', 'CPU ms', 'SQL/task', 'persists'];
  const [first, last] = [hundred[0], hundred.at(-1)];
  const grown = ((last?.heapMb.after ?? Number.NaN) - (first?.heapMb.before ?? Number.NaN)) * 1024;
  return [
    `${count} of one task, 5 at once, ${reads} turns with a read each and an answer; medians of ${hundred.length} runs that took turns:`,
    '',
    toTable(head, rows),
    '',
    `The worker’s process: ${figure(first?.residentMb.before ?? Number.NaN)} MB before, ${figure(Math.max(...hundred.map((one) => one.peakMb)))} at most, ${figure(last?.residentMb.after ?? Number.NaN)} after all runs; what it must keep grew from ${figure(first?.heapMb.before ?? Number.NaN)} to ${figure(last?.heapMb.after ?? Number.NaN)} MB, ${figure(grown / count / hundred.length)} KB for each sub-Vitto.`,
    ...[...new Set(peers.flatMap((peer) => peer.version ?? []))].map((version) => `Version: ${version}.`),
  ];
}

function describeOthers({ nested, twoWorkers }: AgentsMeasured): string[] {
  const most = (ran: Ran[], of: (one: Ran) => number) => Math.max(...ran.map(of));
  const row = (name: string, ran: Ran[]) => [
    name,
    ran[0]?.subVittos ?? 0,
    figure(median(ran.map((one) => one.ms))),
    figure(most(ran, (one) => one.ms)),
    most(ran, (one) => one.mostRunning),
    most(ran, (one) => one.mostSubVittosRunning),
    `${most(ran, (one) => one.mostParked)}, beside ${most(ran, (one) => one.runningBesideParked)} running`,
    Object.values(ran.at(-1)?.workers ?? {}).join(' + '),
  ];
  const head = [
    'what',
    'sub-Vittos',
    'ms',
    'max',
    'ran at once',
    'sub-Vittos at once',
    'parked at once',
    'started by',
  ];
  return [
    'By the order of the journal, the most in any run:',
    '',
    toTable(head, [
      row('5 parents with 5 each, 1 worker with 2 slots', nested),
      row('all of one task, 2 workers with 10 slots', twoWorkers),
    ]),
  ];
}
