import { readdir, readFile, stat } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSandboxServer } from './http/create-sandbox-server.ts';
import { createTestDatabase } from '../kernel/database/testing.ts';
import { silentLogger } from '../kernel/logger.ts';
import { hasImage, openQemu, type QemuUnderTest } from '../sandbox/providers/qemu/testing-qemu.ts';
import { RealHost, type Acquired } from '../sandbox/host/testing-real-host.ts';
import { VmApiClientService } from '../sandbox/host/vm-api-client-service.ts';

const STEP = { timeout: 600_000 };
const TOKEN = 'a-token-of-this-test-and-of-nothing-else';
const MIB = 1024 * 1024;
const GIB = 1024 * MIB;
const SIZES = { memoryMib: 256, cpus: 1, diskGib: 4 };
/** QEMU itself, its buffers and what translating code takes, for each VM. */
const OVERHEAD = 320 * MIB;
/** As root, which everybody in a guest may be, and out of the limits that its command has. */
const asRoot = (command: string) => `sudo sh -c ${quote(`echo $$ >/sys/fs/cgroup/cgroup.procs; ${command}`)}`;
const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
/** Takes the channel to the host from the agent (pidfd_getfd) and writes whatever into it, without end. */
const NONSENSE = String.raw`
import ctypes, glob, os, select
def target(link):
    try: return os.readlink(link)
    except OSError: return ''
link = next(link for link in glob.glob('/proc/[0-9]*/fd/*') if '/vport' in target(link))
pid, fd = int(link.split('/')[2]), int(link.split('/')[4])
port = ctypes.CDLL(None).syscall(438, os.pidfd_open(pid), fd, 0)
assert port > 0
while True:
    select.select([], [port], [])
    try: os.write(port, os.urandom(65536))
    except BlockingIOError: pass
`;

let qemu: QemuUnderTest;
let database: Awaited<ReturnType<typeof createTestDatabase>>;
let real: RealHost;
let server: Awaited<ReturnType<typeof createSandboxServer>>;
let remote: VmApiClientService;
let hostile: Acquired;
let others: Acquired[];

beforeAll(async () => {
  if (!hasImage) return;
  [qemu, database] = await Promise.all([openQemu(), createTestDatabase()]);
  real = new RealHost(qemu, database.database, { sizes: SIZES });
  await real.host.start();
  const deps = { host: real.host, token: TOKEN, database: database.database, logger: silentLogger };
  server = await createSandboxServer(deps);
  await server.listen({ host: '127.0.0.1', port: 0 });
  const { port } = server.server.address() as AddressInfo;
  remote = new VmApiClientService({ url: `http://127.0.0.1:${port}`, token: TOKEN });
  hostile = await real.acquire();
  others = await Promise.all([real.acquire(), real.acquire(), real.acquire()]);
}, 600_000);
afterAll(async () => {
  await server?.close();
  await real?.host.stop(0);
  await qemu?.close();
  await database?.drop();
});

/** Until it ends, the others and the host's API are asked over and over; each answer has to be right. */
async function whileOthersAnswer<T>(work: Promise<T>): Promise<{ result: T; rounds: number }> {
  const state = { isOver: false };
  const ending = work.finally(() => (state.isOver = true));
  ending.catch(() => undefined);
  let rounds = 0;
  do {
    const answers = await Promise.all(others.map((other, n) => other.sh(`echo ${n}`)));
    expect(answers).toEqual(others.map((_, n) => ({ code: 0, text: `${n}\n` })));
    expect((await remote.info()).running).toBeGreaterThanOrEqual(others.length);
    rounds += 1;
  } while (!state.isOver);
  return { result: await ending, rounds };
}

/** It does its work again as if nothing had been, in the same machine. */
async function expectUsable(): Promise<void> {
  expect(await hostile.sh('echo usable')).toEqual({ code: 0, text: 'usable\n' });
}

async function residentBytes(): Promise<number> {
  const status = await readFile('/proc/self/status', 'utf8');
  return Number(/^VmRSS:\s*(\d+) kB/m.exec(status)?.[1]) * 1024;
}

/** What the files in a folder take, holes left out. */
async function bytesOnDisk(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true });
  const blocks = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).blocks));
  return blocks.reduce((sum, count) => sum + count, 0) * 512;
}

describe.skipIf(!hasImage)('a guest that does harm, beside three others', () => {
  it('by a fork bomb is ended at its time-out and usable after it', STEP, async () => {
    const bomb = hostile.guest.exec({ command: 'b() { b | b & }; b; sleep 60', timeoutMs: 8_000 });
    const { result } = await whileOthersAnswer(bomb);
    expect(result).toMatchObject({ exitCode: null, limit: 'processes' });
    await expectUsable();
    expect((await hostile.sh('ps -e --no-headers | wc -l')).text.trim()).toMatch(/^\d{1,2}$/);
  });

  it(
    'by taking all memory loses its program, not the machine, and the host gives no more than it said',
    STEP,
    async () => {
      const hog = hostile.sh('python3 -c "x = []\nwhile True: x.append(bytearray(8 << 20))"; echo ended $?');
      const { result } = await whileOthersAnswer(hog);
      expect(result.text).toMatch(/ended (137|1)/);
      const [info] = await real.host.list(hostile.userId);
      expect(info?.memoryBytes).toBeLessThan(SIZES.memoryMib * MIB + OVERHEAD);
      await expectUsable();
    },
  );

  it('by filling its disk is told so, and can clear it', STEP, async () => {
    const { result } = await whileOthersAnswer(
      // The most of it is reserved, which is quick; the rest is written, not with zeros: those take no room on the host.
      hostile.sh(`fallocate -l 3400M big; tr '\\0' x </dev/zero | head -c 6G >big2; echo ended $?`, 300_000),
    );
    expect(result.text).toContain('No space left on device');
    expect(result.text).toContain('ended 1');
    const onHost = await bytesOnDisk(join(qemu.root, 'machines', hostile.sandboxId));
    expect(onHost).toBeGreaterThan(200 * MIB);
    expect(onHost).toBeLessThan((SIZES.diskGib + 0.1) * GIB);
    const write = hostile.guest.writeFile({ path: 'file', content: 'x'.repeat(100_000), encoding: 'utf8' });
    await expect(write).rejects.toMatchObject({ code: 'no-space' });
    await hostile.sh('rm big big2; sync');
    await hostile.guest.writeFile({ path: 'file', content: 'x', encoding: 'utf8' });
    await expectUsable();
  });

  it('by printing without end is ended, and little of it is held anywhere', STEP, async () => {
    const before = await residentBytes();
    const endless = hostile.guest.exec({ command: 'yes 0123456789abcdef', timeoutMs: 60_000 });
    const { result } = await whileOthersAnswer(endless);
    expect(result).toMatchObject({ limit: 'output' });
    expect(Buffer.byteLength(result.stdout.text)).toBeLessThan(2 * MIB);
    expect(result.stdout.totalBytes).toBeGreaterThan(2 * MIB);
    expect((await residentBytes()) - before).toBeLessThan(300 * MIB);
    await expectUsable();
  });

  it('by a child that hears no signal and has left its group is ended with the command', STEP, async () => {
    const child = `setsid sh -c 'trap "" TERM INT HUP; (trap "" TERM; touch deaf; while :; do sleep 1; done) & while :; do sleep 1; done' &`;
    const { result } = await whileOthersAnswer(
      hostile.guest.exec({ command: `${child} echo started; trap "" TERM; sleep 600`, timeoutMs: 3_000 }),
    );
    expect(result).toMatchObject({ timedOut: true, stdout: { text: 'started\n' } });
    // It was there, and is no more.
    expect((await hostile.sh('ls deaf; pgrep -c sleep')).text).toBe('deaf\n0\n');
    await expectUsable();
  });

  it('is given up and gone; what it was is the user’s disk', STEP, async () => {
    await hostile.sh('echo kept >kept; sync');
    await giveUp();
    await expectBackFromDisk();
  });
});

describe.skipIf(!hasImage)('a guest whose root does harm, beside three others', () => {
  it('by a fork bomb without limits is given up, however little it answers', STEP, async () => {
    const bomb = hostile.guest.exec({ command: asRoot('b() { b | b & }; b; sleep 60'), timeoutMs: 8_000 });
    const { result } = await whileOthersAnswer(howItEnds(bomb));
    expect(['ended', 'timed-out', 'session-lost']).toContain(result);
    await giveUp();
    await expectBackFromDisk();
  });

  it('by crashing its kernel ends alone, and is told of it when it is back', STEP, async () => {
    const crash = hostile.guest.exec({
      command: asRoot('sync; echo c >/proc/sysrq-trigger'),
      timeoutMs: 60_000,
    });
    expect(await howItEnds(crash)).toBe('session-lost');
    await expectBackFromDisk();
    expect(hostile.notices.join()).toContain('files are kept');
  });

  it('by speaking to the host in place of its agent is not listened to', STEP, async () => {
    const before = await residentBytes();
    await hostile.guest.writeFile({ path: 'nonsense.py', content: NONSENSE, encoding: 'utf8' });
    const nonsense = hostile.guest.exec({
      command: asRoot('exec python3 nonsense.py'),
      timeoutMs: 60_000,
    });
    const { result } = await whileOthersAnswer(howItEnds(nonsense));
    expect(result).toBe('session-lost');
    await giveUp();
    expect((await residentBytes()) - before).toBeLessThan(300 * MIB);
    await expectBackFromDisk();
  });
});

/** The code of the error, if it is one. */
const howItEnds = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'ended',
    (error: { code: string }) => error.code,
  );

async function giveUp(): Promise<void> {
  const claim = { taskId: hostile.taskId, fence: null };
  await real.host.release(hostile.sandboxId, claim, { isBroken: true });
}

/** The same user's next machine has the files of the one before. */
async function expectBackFromDisk(): Promise<void> {
  hostile = await real.acquire({ userId: hostile.userId });
  expect(hostile.from).toBe('user-disk');
  expect(await hostile.sh('cat kept')).toEqual({ code: 0, text: 'kept\n' });
}
