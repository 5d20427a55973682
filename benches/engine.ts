// Overhead of the agent loop: what a step costs when the model and the tool answer at once, with Vitto's journal on,
// side by side with other loops in one run. Each is a process of its own; they take turns, run by run, so that a
// machine that slows down slows all of them.
import { openBenchPostgres, type BenchPostgres } from './bench-postgres.ts';
import { readBenchOptions } from './bench-options.ts';
import { installPeers } from './install-peers.ts';
import { describeMachine, figure, machineLine, say, toTable } from './report.ts';
import { median } from './statistics.ts';
import { SubjectProcess, type StepCost } from './subject-process.ts';
import type { SubjectInfo } from './subject-protocol.ts';

const SUBJECTS: { command: string[]; needsDatabase?: boolean }[] = [
  { command: ['engine-vitto.ts'], needsDatabase: true },
  { command: ['engine-floor.ts'], needsDatabase: true },
  { command: ['peers/ai-sdk.mjs', 'generate'] },
  { command: ['peers/ai-sdk.mjs', 'stream'] },
  { command: ['peers/openai-agents.mjs'] },
  { command: ['peers/mastra.mjs'] },
  { command: ['peers/langgraph.mjs', 'none'] },
  { command: ['peers/langgraph.mjs', 'memory'] },
  { command: ['peers/langgraph.mjs', 'postgres-async'], needsDatabase: true },
  { command: ['peers/langgraph.mjs', 'postgres-sync'], needsDatabase: true },
];
/** No peer may call home. */
const QUIET = {
  LANGSMITH_TRACING: 'false',
  LANGCHAIN_TRACING_V2: 'false',
  MASTRA_TELEMETRY_DISABLED: '1',
  DO_NOT_TRACK: '1',
};
const WARM_UP_RUNS = 2;
/** The limit of the specification, a step. */
const LIMIT_MS = 2;

interface Measured {
  info: SubjectInfo;
  costs: StepCost[];
}

const options = readBenchOptions('bench:engine', {
  steps: { full: 100, quick: 20 },
  runs: { full: 9, quick: 2 },
});
const machine = describeMachine();
await installPeers();
const postgres = await openBenchPostgres();
try {
  const measured = await measureAll(postgres);
  if (options.isJson) printJson(measured);
  else printTable(measured);
} finally {
  await postgres.close();
}

async function measureAll(server: BenchPostgres): Promise<Measured[]> {
  const subjects: { process: SubjectProcess; measured: Measured }[] = [];
  try {
    for (const { command, needsDatabase } of SUBJECTS) {
      const database = needsDatabase === true ? { BENCH_DATABASE_URL: await server.createDatabase() } : {};
      const subject = new SubjectProcess(command, { ...QUIET, ...database });
      subjects.push({ process: subject, measured: { info: await subject.start(), costs: [] } });
    }
    const { steps, runs } = options.numbers;
    for (let round = -WARM_UP_RUNS; round < runs; round += 1) {
      say(round < 0 ? 'warming up' : `run ${round + 1} of ${runs}`);
      // Another order each round: nobody always comes after the same neighbour.
      for (const index of rotate(subjects.length, round + WARM_UP_RUNS)) {
        const subject = subjects[index];
        const cost = await subject?.process.run(steps);
        if (round >= 0 && cost !== undefined) subject?.measured.costs.push(cost);
      }
    }
  } finally {
    await Promise.all(subjects.map((subject) => subject.process.stop()));
  }
  return subjects.map((subject) => subject.measured);
}

function rotate(length: number, by: number): number[] {
  return Array.from({ length }, (_, index) => (index + by) % length);
}

function summarise({ info, costs }: Measured) {
  const ms = costs.map((cost) => cost.ms);
  const statements = costs.flatMap((cost) => cost.statements ?? []);
  return {
    ...info,
    msPerStep: { median: median(ms), min: Math.min(...ms), max: Math.max(...ms) },
    cpuMsPerStep: median(costs.map((cost) => cost.cpuMs)),
    statementsPerStep: statements.length === 0 ? null : median(statements),
  };
}

function printJson(measured: Measured[]): void {
  const subjects = measured.map((one) => ({ ...summarise(one), runs: one.costs }));
  const result = {
    bench: 'engine',
    ...options,
    limitMs: LIMIT_MS,
    machine,
    database: postgres.description,
    subjects,
  };
  process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
}

function printTable(measured: Measured[]): void {
  const all = measured.map(summarise);
  const own = all[0]?.msPerStep.median ?? Number.NaN;
  const rows = all.map((one) => [
    one.name,
    figure(one.msPerStep.median),
    figure(one.msPerStep.min),
    figure(one.msPerStep.max),
    `${figure(one.msPerStep.median / own)}x`,
    figure(one.cpuMsPerStep),
    one.statementsPerStep === null ? '–' : figure(one.statementsPerStep),
    one.persists,
  ]);
  const head = ['loop', 'ms/step', 'min', 'max', 'to Vitto', 'CPU ms', 'SQL/step', 'persists'];
  const { steps, runs } = options.numbers;
  process.stdout.write(
    `${[
      `Engine overhead: ${steps} tool-call steps and a final answer, a model and a tool that answer at once; medians of ${runs} runs that took turns.`,
      machineLine(machine),
      postgres.description,
      ...(options.isQuick ? ['A QUICK RUN: these figures mean nothing.'] : []),
      '',
      toTable(head, rows),
      '',
      'CPU ms: of the loop’s own process, without the database. SQL/step: statements sent, each a round trip.',
      `Versions: ${[...new Set(all.flatMap((one) => one.version ?? []))].join(', ')}.`,
      `Limit: Vitto under ${LIMIT_MS} ms a step at the median: ${own < LIMIT_MS ? 'held' : 'NOT HELD'} (${figure(own)} ms).`,
    ].join('\n')}\n`,
  );
}
