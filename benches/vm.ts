// What a VM costs: to boot it, to bring it back, to run a command in it, to move files, to have several, to let it go.
// Everything goes the way that a task goes: claim, session, host, agent, guest.
import { join } from 'node:path';
import { ProcessSandboxService } from '../apps/server/src/sandbox/providers/process/process-sandbox-service.ts';
import { makeBenchFolder } from './bench-folder.ts';
import { readBenchOptions } from './bench-options.ts';
import { openBenchPostgres } from './bench-postgres.ts';
import { describeMachine, figure, machineLine, say, toTable } from './report.ts';
import { median, percentile } from './statistics.ts';
import { BARE, openBenchHost, run, SIZES, type BenchHost, type BenchMachine } from './vm-host.ts';

const options = readBenchOptions('bench:vm', {
  boots: { full: 10, quick: 2 },
  restores: { full: 20, quick: 2 },
  calls: { full: 100, quick: 5 },
  cycles: { full: 10, quick: 2 },
});
const { boots, restores, calls, cycles } = options.numbers;
const KB = 1024;
/** An emulated processor translates what runs for the first time. */
const WARM_UP = 5;
const FILES = [
  { name: '1 KB', bytes: KB, rounds: calls },
  { name: '1 MB', bytes: KB * KB, rounds: Math.ceil(calls / 4) },
  { name: '16 MB', bytes: 16 * KB * KB, rounds: Math.ceil(calls / 10) },
];

/** Milliseconds, by what they are of; in the order in which they are printed. */
const times = new Map<string, number[]>();
const sizes = new Map<string, number[]>();
const machine = describeMachine();
const folder = await makeBenchFolder();
const opened: { host: BenchHost | null } = { host: null };
const postgres = await openBenchPostgres(async () => {
  await opened.host?.close();
  await folder.remove();
});
let leftovers = '';
let memory: number[] = [];
try {
  opened.host = await openBenchHost(await postgres.createDatabase(), folder.path);
  const vm = opened.host;
  await measureStarts(vm);
  const one = await vm.start('minimal');
  await measureCalls(vm, one);
  await vm.host.forget(one.sandboxId, one.userId);
  memory = await measureFour(vm);
  await measureProcessSandbox();
  leftovers = await measureCycles(vm);
  print(vm);
} finally {
  await postgres.close();
}

function note(name: string, ms: number, into = times): void {
  const list = into.get(name);
  if (list === undefined) into.set(name, [ms]);
  else list.push(ms);
}

async function timed<T>(name: string, work: () => Promise<T>): Promise<T> {
  const began = performance.now();
  const result = await work();
  note(name, performance.now() - began);
  return result;
}

/** Boots, base restores and restores of a user's machine take turns, so that a busy moment meets all of them. */
async function measureStarts({ host, start }: BenchHost): Promise<void> {
  const stagesOf = async (which: string, { userId }: BenchMachine) => {
    const stages = (await host.list(userId))[0]?.stages ?? [];
    for (const { stage, ms } of stages) note(`${which}: ${stage}`, ms);
    return stages.reduce((sum, { ms }) => sum + ms, 0);
  };
  for (let round = 0; round < Math.max(boots, restores); round += 1) {
    say(`start ${round + 1} of ${Math.max(boots, restores)}`);
    if (round < boots) {
      const booted = expectFrom(await start(BARE), 'boot');
      note('boot → first exec', booted.firstExecMs);
      await stagesOf('boot', booted);
      await host.forget(booted.sandboxId, booted.userId);
    }
    if (round >= restores) continue;
    const fresh = expectFrom(await start('minimal'), 'base-snapshot');
    note('base restore → first exec', fresh.firstExecMs);
    note('base restore → running', await stagesOf('base restore', fresh));
    await run(fresh.guest, 'echo kept >kept');
    await timed('suspend with a snapshot', () => host.snapshot(fresh.sandboxId, fresh.userId));
    note('snapshot, MB', ((await host.list(fresh.userId))[0]?.snapshot?.bytes ?? 0) / KB / KB, sizes);
    const back = expectFrom(await start('minimal', fresh.userId), 'user-snapshot');
    note('user restore → first exec', back.firstExecMs);
    await host.forget(back.sandboxId, back.userId);
  }
}

function expectFrom(found: BenchMachine, from: BenchMachine['from']): BenchMachine {
  if (found.from !== from) throw new Error(`the machine came from ${found.from}, not from ${from}`);
  return found;
}

/** A session that is warm, called from this process and over the host's HTTP API; the two take turns. */
async function measureCalls({ remote }: BenchHost, one: BenchMachine): Promise<void> {
  say('calls');
  const overHttp = remote.guest(one.sandboxId, { taskId: one.taskId, fence: 1 });
  const ways = [['', one.guest] as const, [', HTTP', overHttp] as const];
  for (let n = 0; n < WARM_UP; n += 1) for (const [, guest] of ways) await run(guest, 'true');
  for (let n = 0; n < calls; n += 1)
    for (const [how, guest] of ways) await timed(`exec true${how}`, () => run(guest, 'true'));
  for (const { name, bytes, rounds } of FILES) {
    const content = Buffer.alloc(bytes, 'v').toString('base64');
    for (let n = 0; n < rounds; n += 1)
      for (const [how, guest] of ways) {
        await timed(`write ${name}${how}`, () =>
          guest.writeFile({ path: 'file', content, encoding: 'base64' }),
        );
        const read = await timed(`read ${name}${how}`, () =>
          guest.readFile({ path: 'file', length: bytes, encoding: 'base64' }),
        );
        if (read.content.length !== content.length) throw new Error('the file came back in another length');
      }
  }
  for (let n = 0; n < Math.ceil(calls / 8); n += 1) {
    await timed('8 execs one after another', async () => {
      for (let i = 0; i < 8; i += 1) await run(one.guest, 'true');
    });
    await timed('8 execs at once', () =>
      Promise.all(Array.from({ length: 8 }, () => run(one.guest, 'true'))),
    );
    await timed('8 execs of sleep 0.5 at once', () =>
      Promise.all(Array.from({ length: 8 }, () => run(one.guest, 'sleep 0.5'))),
    );
  }
}

/** Four users at the same moment; what each VM's process holds once it has nothing to do. MB. */
async function measureFour({ host, start }: BenchHost): Promise<number[]> {
  say('four VMs at once');
  const held: number[] = [];
  for (let n = 0; n < Math.ceil(restores / 4); n += 1) {
    const four = await timed('4 base restores at once → all first execs', () =>
      Promise.all(Array.from({ length: 4 }, () => start('minimal'))),
    );
    await timed('exec true in 4 VMs at once', () => Promise.all(four.map(({ guest }) => run(guest, 'true'))));
    for (const { userId, sandboxId } of four) {
      held.push(((await host.list(userId))[0]?.memoryBytes ?? 0) / KB / KB);
      await host.forget(sandboxId, userId);
    }
  }
  return held;
}

async function measureProcessSandbox(): Promise<void> {
  const service = new ProcessSandboxService({ root: join(folder.path, 'sandboxes') });
  if (!(await service.probe()).available) return;
  const session = await service.open({ taskId: 'bench', readOnlyPaths: [] });
  const exec = () => session.exec({ command: 'true', timeoutMs: 30_000 });
  await exec();
  for (let n = 0; n < calls; n += 1) await timed('exec true, process sandbox', exec);
  await service.close('bench');
}

/** Claims, runs, releases, suspends, forgets, again and again; then counts what is left. */
async function measureCycles({ host, start, count, addUser }: BenchHost): Promise<string> {
  const userId = await addUser();
  await cycle();
  const before = await count();
  for (let n = 1; n <= cycles; n += 1) {
    if (n % 10 === 0) say(`cycle ${n} of ${cycles}`);
    await timed('claim, exec, release, suspend', cycle);
  }
  const after = await count();
  return `${cycles} cycles: VMs ${before.vms} → ${after.vms}, machines' folders ${before.folders} → ${after.folders}, sessions ${before.sessions} → ${after.sessions}, claims ${before.claims} → ${after.claims}, open files ${before.files} → ${after.files}.`;

  async function cycle(): Promise<void> {
    const { sandboxId, taskId } = await start('minimal', userId);
    await host.release(sandboxId, { taskId, fence: null });
    await host.snapshot(sandboxId, userId);
  }
}

function print({ accelerator, version }: BenchHost): void {
  const mid = (name: string) => median(times.get(name) ?? []);
  const boot = mid('boot → first exec');
  const ratios = {
    base: boot / mid('base restore → first exec'),
    user: boot / mid('user restore → first exec'),
  };
  if (options.isJson) {
    const result = {
      ...{ bench: 'vm', ...options, machine, accelerator, version, ratios, leftovers, residentMb: memory },
      ...{ times: Object.fromEntries(times), sizes: Object.fromEntries(sizes) },
    };
    process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
    return;
  }
  const rows = [...times, ...sizes, ['an idle VM, resident MB', memory] as const].map(([name, values]) => [
    name,
    values.length,
    figure(median(values)),
    figure(percentile(values, 0.99)),
    figure(Math.min(...values)),
  ]);
  process.stdout.write(
    `${[
      `VMs of ${SIZES.memoryMib} MiB and ${SIZES.cpus} processors, image minimal, QEMU ${version} with ${accelerator}; milliseconds where nothing else is said.`,
      machineLine(machine),
      postgres.description,
      ...(options.isQuick ? ['A QUICK RUN: these figures mean nothing.'] : []),
      '',
      toTable(['what', 'times', 'median', 'p99', 'min'], rows),
      '',
      `Boot to first exec : restore to first exec = ${figure(ratios.base)} (base), ${figure(ratios.user)} (user). ${heldAim(8, ratios)}. ${heldAim(10, ratios)} (stretch).`,
      leftovers,
    ].join('\n')}\n`,
  );
}

function heldAim(aim: number, ratios: { base: number; user: number }): string {
  return `Aim ${aim}: ${Math.min(ratios.base, ratios.user) >= aim ? 'held' : 'NOT HELD'}`;
}
