// The event stream under load: a thousand clients on one server process, with a writer beside it. Server, clients and
// writer are processes of their own on this machine, so what the clients cost is a part of the latency.
import { migrateDatabase } from '../apps/server/src/kernel/database/migrate.ts';
import { openDatabase } from '../apps/server/src/kernel/database/database.ts';
import { openBenchPostgres, type BenchPostgres } from './bench-postgres.ts';
import { readBenchOptions } from './bench-options.ts';
import { ChildCalls } from './child-calls.ts';
import type { ProcessLoad } from './process-load.ts';
import { describeMachine, figure, machineLine, residentMb, say, toTable } from './report.ts';
import { percentile } from './statistics.ts';
import type { Received, StreamClientsCalls } from './stream-clients.ts';
import { createUsers, readLastPositions } from './stream-scenario.ts';
import type { StreamServerCalls } from './stream-server.ts';
import type { StreamWriterCalls, Written } from './stream-writer.ts';

interface Scenario {
  name: string;
  users: number;
  clientsPerUser: number;
}
interface Measured extends Scenario {
  expected: number;
  received: Received;
  written: Written;
  server: ProcessLoad;
  /** Server's resident memory in MB: started, all clients connected, after the last event. */
  memoryMb: { before: number; connected: number; after: number };
  connectSeconds: number;
}
/** How long clients may lag behind the last event before it counts as lost. */
const PATIENCE_MS = 30_000;

const options = readBenchOptions('bench:stream', {
  clients: { full: 1_000, quick: 50 },
  rate: { full: 100, quick: 50 },
  seconds: { full: 10, quick: 2 },
});
const { clients, rate, seconds } = options.numbers;
const tabs = Math.min(10, clients);
const SCENARIOS: Scenario[] = [
  { name: 'one user, every client', users: 1, clientsPerUser: clients },
  {
    name: `${Math.floor(clients / tabs)} users, ${tabs} tabs`,
    users: Math.floor(clients / tabs),
    clientsPerUser: tabs,
  },
];

const machine = describeMachine();
const postgres = await openBenchPostgres();
const measured: Measured[] = [];
try {
  for (const scenario of SCENARIOS) measured.push(await measure(scenario, postgres));
} finally {
  await postgres.close();
}
const isWhole = measured.every((one) => lossOf(one) === 0);
if (options.isJson) printJson();
else printTable();
process.exitCode = isWhole ? 0 : 1;

async function measure(scenario: Scenario, server: BenchPostgres): Promise<Measured> {
  const databaseUrl = await server.createDatabase();
  await migrateDatabase(databaseUrl);
  const database = openDatabase({ url: databaseUrl, maxConnections: 4 });
  const parts = {
    server: new ChildCalls<StreamServerCalls>('stream-server.ts'),
    clients: new ChildCalls<StreamClientsCalls>('stream-clients.ts'),
    writer: new ChildCalls<StreamWriterCalls>('stream-writer.ts'),
  };
  try {
    say(`${scenario.name}: making users`);
    const { tokens, tasks } = await createUsers(database, scenario.users);
    const { port } = await parts.server.call('start', { databaseUrl });
    const before = residentMb(parts.server.pid);
    say(`${scenario.name}: connecting ${scenario.users * scenario.clientsPerUser} clients`);
    const { clientsPerUser } = scenario;
    const opened = await parts.clients.call('open', { port, tokens, clientsPerUser });
    const connected = residentMb(parts.server.pid);
    say(`${scenario.name}: ${rate} events a second for ${seconds} s`);
    const first = await readLastPositions(database, tasks);
    await Promise.all([parts.server.call('begin', undefined), parts.clients.call('begin', undefined)]);
    const written = await parts.writer.call('write', { databaseUrl, tasks, perSecond: rate, seconds });
    const lastPositions = await readLastPositions(database, tasks);
    const received = await parts.clients.call('finish', { lastPositions, patienceMs: PATIENCE_MS });
    const load = await parts.server.call('end', undefined);
    const after = residentMb(parts.server.pid);
    await parts.clients.call('close', undefined);
    const events = lastPositions.reduce((sum, last, user) => sum + last - (first[user] ?? 0), 0);
    return {
      ...scenario,
      expected: events * clientsPerUser,
      received,
      written,
      server: load,
      memoryMb: { before, connected, after },
      connectSeconds: opened.seconds,
    };
  } finally {
    await Promise.all(Object.values(parts).map((part) => part.stop()));
    await database.pool.end();
  }
}

/** Everything that is not "each client got each event exactly once". */
function lossOf({ received, expected, written }: Measured): number {
  const { lost, repeated, broken, deliveries } = received;
  const unwritten = rate * seconds - written.events;
  return Math.abs(lost) + repeated + broken + Math.abs(expected - deliveries) + Math.abs(unwritten);
}

function printJson(): void {
  const result = { bench: 'stream', ...options, machine, database: postgres.description, isWhole, measured };
  const text = JSON.stringify(result, (key, value: unknown) => (key === 'appendMs' ? undefined : value), 2);
  process.stdout.write(`${text}\n`);
}

function printTable(): void {
  const rows = measured.map((one) => [
    one.name,
    figure(one.received.latencyMs.p50),
    figure(one.received.latencyMs.p99),
    figure(one.received.latencyMs.max),
    Math.round(one.received.deliveries / one.written.seconds),
    figure(one.server.loopDelayMs.p99),
    `${Math.round(one.server.cpu * 100)} %`,
    `${figure(one.memoryMb.before)} → ${figure(one.memoryMb.connected)} → ${figure(one.memoryMb.after)}`,
    figure(one.received.load.loopDelayMs.p99),
    figure(percentile(one.written.appendMs, 0.5)),
    lossOf(one) === 0
      ? 'yes'
      : `NO: ${one.received.lost} lost, ${one.received.repeated} repeated, ${one.received.broken} streams broken`,
  ]);
  const head = [
    'who listens',
    'p50 ms',
    'p99 ms',
    'max ms',
    'events/s out',
    'loop p99 ms',
    'server CPU',
    'server memory MB',
    'clients’ loop p99 ms',
    'write p50 ms',
    'each event once',
  ];
  process.stdout.write(
    `${[
      `Event stream: ${clients} clients on one server process, ${rate} events a second in all for ${seconds} s.`,
      machineLine(machine),
      postgres.description,
      ...(options.isQuick ? ['A QUICK RUN: these figures mean nothing.'] : []),
      '',
      toTable(head, rows),
      '',
      'Latency: from just before an event is written to the journal until a client has read it.',
      'Memory: started → all clients connected → after the last event.',
    ].join('\n')}\n`,
  );
}
