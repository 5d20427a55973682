import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { createTestDatabase } from './database/testing.ts';
import { silentLogger } from './logger.ts';
import { SignalBus, type Signal } from './signal-bus.ts';

let made: Awaited<ReturnType<typeof createTestDatabase>>;
const buses: SignalBus[] = [];
beforeAll(async () => {
  made = await createTestDatabase();
});
afterEach(() => Promise.all(buses.splice(0).map((bus) => bus.stop())));
afterAll(() => made.drop());

const query = (text: string, values: unknown[] = []) => made.database.pool.query(text, values);
async function openBus(): Promise<SignalBus> {
  const bus = new SignalBus({ url: made.url, publish: query, logger: silentLogger });
  buses.push(bus);
  await bus.start();
  return bus;
}
/** Signals that a bus delivers, and a promise of the first of a kind. */
function watch(bus: SignalBus) {
  const got: Signal[] = [];
  bus.listen((signal) => got.push(signal));
  const next = (kind: Signal['kind']) =>
    new Promise<void>((resolve) => bus.listen((signal) => void (signal.kind === kind && resolve())));
  return { got, next };
}
const countConnections = async () => {
  const result = await query(
    "select count(*)::int as n from pg_stat_activity where application_name = 'vitto-signals' and datname = current_database()",
  );
  return (result.rows[0] as { n: number }).n;
};
const breakConnections = () =>
  query(
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'vitto-signals' and datname = current_database()",
  );
const until = async (isSo: () => Promise<boolean>) => {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 10));
};

it('carries signals from one process to another, and to itself once', async () => {
  const [here, there] = [await openBus(), await openBus()];
  const [own, others] = [watch(here), watch(there)];
  const arrived = others.next('task-seized');
  await here.taskSeized('t1');
  await arrived;
  expect(others.got).toEqual([{ kind: 'task-seized', taskId: 't1', from: expect.any(String) as string }]);
  expect(own.got).toEqual([{ kind: 'task-seized', taskId: 't1' }]);
});

it('leaves out what is no signal and goes on', async () => {
  const [here, there] = [await openBus(), await openBus()];
  const { got, next } = watch(there);
  for (const payload of [
    'not json',
    '',
    'null',
    '5',
    '"x"',
    '[]',
    '{}',
    '{"kind":"other"}',
    '{"kind":"journal"}',
    '{"kind":"task-seized","taskId":5}',
  ])
    await query("select pg_notify('vitto_signals', $1)", [payload]);
  const arrived = next('task-seized');
  await here.taskSeized('t2');
  await arrived;
  expect(got).toMatchObject([{ kind: 'task-seized', taskId: 't2' }]);
});

it('does not let a listener that fails keep a signal from the others or from the writer', async () => {
  const bus = await openBus();
  bus.listen(() => {
    throw new Error('a defect');
  });
  const { got } = watch(bus);
  bus.journalGrew('u1');
  expect(got).toEqual([{ kind: 'journal', userId: 'u1' }]);
});

it('connects again when its connection breaks, and says so', async () => {
  const bus = await openBus();
  const { next } = watch(bus);
  const back = next('reconnected');
  await breakConnections();
  await back;
  expect(await countConnections()).toBe(1);
});

it('does not connect again once it is stopped, also when it had just lost its connection', async () => {
  const bus = await openBus();
  const lost = until(async () => (await countConnections()) === 0);
  await breakConnections();
  await lost;
  await bus.stop();
  // Longer than the pause before a new try, so that one that was not called off would show.
  await new Promise((resolve) => setTimeout(resolve, 1_200));
  expect(await countConnections()).toBe(0);
});

it('leaves no connection open when it is stopped while it connects', async () => {
  const bus = new SignalBus({ url: made.url, publish: query, logger: silentLogger });
  const started = bus.start();
  await bus.stop();
  await started;
  await until(async () => (await countConnections()) === 0);
});
