import { readFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
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
const SIZES = { memoryMib: 256, cpus: 1, diskGib: 4 };
/** QEMU itself, its buffers and what translating code takes, for each VM. */
const OVERHEAD = 320 * MIB;

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
    expect((await remote.info()).running).toBe(4);
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
      hostile.sh('fallocate -l 100G big; head -c 6G /dev/zero >big2; echo ended $?', 300_000),
    );
    expect(result.text).toContain('No space left on device');
    expect(result.text).toContain('ended 1');
    const write = hostile.guest.writeFile({ path: 'file', content: 'x'.repeat(100_000), encoding: 'utf8' });
    await expect(write).rejects.toMatchObject({ code: 'no-space' });
    await hostile.sh('rm -f big big2; sync');
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
    const child = `setsid sh -c 'trap "" TERM INT HUP; (trap "" TERM; while :; do sleep 1; done) & while :; do sleep 1; done' &`;
    const { result } = await whileOthersAnswer(
      hostile.guest.exec({ command: `${child} echo started; trap "" TERM; sleep 600`, timeoutMs: 3_000 }),
    );
    expect(result).toMatchObject({ timedOut: true, stdout: { text: 'started\n' } });
    expect((await hostile.sh('pgrep -c sleep')).text.trim()).toBe('0');
    await expectUsable();
  });

  it('is given up and gone; what it was is the user’s disk', STEP, async () => {
    await hostile.sh('echo kept >kept; sync');
    await real.host.release(hostile.sandboxId, { taskId: hostile.taskId, fence: null }, { isBroken: true });
    const again = await real.acquire({ userId: hostile.userId });
    expect(again.from).toBe('user-disk');
    expect(await again.sh('cat kept')).toEqual({ code: 0, text: 'kept\n' });
  });
});
