import { readdir, readFile, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase } from '../../kernel/database/testing.ts';
import { newId } from '../../kernel/ids.ts';
import { hasImage, linkImage, openQemu, type QemuUnderTest } from '../providers/qemu/testing-qemu.ts';
import type { VmImage } from '../providers/sandbox-provider.ts';
import { RealHost, type Acquired } from './testing-real-host.ts';

const STEP = { timeout: 600_000 };
const SIZES = { memoryMib: 512, cpus: 1, diskGib: 4 };
const CYCLES = 12;
/** Each way to randomness that a program in a guest may take, none of which it has taken before. */
const RANDOM =
  'python3 -c "import os, secrets, uuid; print(uuid.uuid4(), secrets.token_hex(16), os.getrandom(16).hex(), os.urandom(16).hex(), sep=chr(10))"; cat /proc/sys/kernel/random/uuid /etc/machine-id';

let qemu: QemuUnderTest;
let database: Awaited<ReturnType<typeof createTestDatabase>>;
let real: RealHost;
let image: VmImage;

beforeAll(async () => {
  if (!hasImage) return;
  [qemu, database] = await Promise.all([openQemu(), createTestDatabase()]);
  image = await linkImage(qemu.image, join(qemu.root, 'image'));
  const under = { ...qemu, image, open: () => qemu.open({ findImage: async () => image }) };
  real = new RealHost(under, database.database, { sizes: SIZES });
  await real.host.start();
}, 600_000);
afterAll(async () => {
  await real?.host.stop(0);
  await qemu?.close();
  await database?.drop();
});

const forget = ({ sandboxId, userId }: Acquired) => real.host.forget(sandboxId, userId);
/** Makes the image's snapshot that machines of these sizes start from; the file that a restore begins with. */
async function makeBase(): Promise<string> {
  const machineFolder = join(qemu.root, 'base');
  await qemu.open().makeBaseSnapshot({ vmId: newId(), machineFolder, image, ...SIZES, userNumber: 0 });
  const [fit = ''] = await readdir(join(image.folder, 'base'));
  return join(image.folder, 'base', fit, 'state');
}

describe.skipIf(!hasImage)('a first machine', () => {
  it('boots where the image has no snapshot, and where it is damaged, which it says', STEP, async () => {
    const bare = await real.acquire();
    expect([bare.from, bare.notices]).toEqual(['boot', []]);
    expect(await bare.sh('echo up')).toEqual({ code: 0, text: 'up\n' });
    await forget(bare);

    await truncate(await makeBase(), 1000);
    const beside = await real.acquire();
    expect(beside.from).toBe('boot');
    expect(beside.notices.join()).toContain("The image's snapshot could not be used");
    expect(await beside.sh('echo up')).toEqual({ code: 0, text: 'up\n' });
    await forget(beside);
  });

  it('shares no randomness with another from the same snapshot, not in its first command', STEP, async () => {
    await makeBase();
    const pair = await Promise.all([real.acquire(), real.acquire()]);
    expect(pair.map(({ from }) => from)).toEqual(['base-snapshot', 'base-snapshot']);
    const said = await Promise.all(pair.map(async ({ sh }) => (await sh(RANDOM)).text.trim().split('\n')));
    expect(said.map((lines) => lines.length)).toEqual([6, 6]);
    expect(new Set(said.flat()).size).toBe(12);
    for (const one of pair) await forget(one);
  });
});

describe.skipIf(!hasImage)("a machine's clock", () => {
  it('is right in the first command after it was put aside with a wrong one', STEP, async () => {
    const { sh, sandboxId, userId } = await real.acquire();
    expect((await sh('sudo date -s 2001-02-03 >/dev/null; date +%Y')).text).toBe('2001\n');
    await real.host.snapshot(sandboxId, userId);
    const again = await real.acquire({ userId });
    expect(again.from).toBe('user-snapshot');
    const before = Date.now();
    const guestMs = Number((await again.sh('date +%s%3N')).text);
    expect(guestMs).toBeGreaterThan(before - 2_000);
    expect(guestMs).toBeLessThan(Date.now() + 2_000);
    await forget(again);
  });
});

describe.skipIf(!hasImage)('claims that come and go', () => {
  it('leave no process, file, port or row', STEP, async () => {
    const userId = await real.addUser();
    const cycle = async (n: number): Promise<void> => {
      const kept = await real.acquire({ userId });
      expect((await kept.sh(`echo ${n}`)).text).toBe(`${n}\n`);
      expect((await count()).processes).toBe(1);
      // Every third one is broken: it goes without a snapshot, and the next comes from the disk.
      const isBroken = n % 3 === 2;
      await real.host.release(kept.sandboxId, { taskId: kept.taskId, fence: null }, { isBroken });
      if (!isBroken) await real.host.snapshot(kept.sandboxId, userId);
      // Every fourth time another user comes and is forgotten.
      if (n % 4 === 3) await forget(await real.acquire());
    };
    const empty = await count();
    await cycle(0);
    const before = await count();
    for (let n = 1; n <= CYCLES; n += 1) await cycle(n);
    const after = await count();
    expect(after).toMatchObject({ ...before, files: after.files, descriptors: after.descriptors });
    // A disk has a layer or two more at times, and the database's pool a connection; a leak grows with each cycle.
    expect(after.files - before.files).toBeLessThan(CYCLES / 2);
    expect(after.descriptors - before.descriptors).toBeLessThan(CYCLES / 2);

    for (const { id } of await real.host.list(userId)) await real.host.forget(id, userId);
    expect({ ...(await count()), descriptors: empty.descriptors }).toEqual(empty);
  });
});

/** All that there is of machines: QEMU processes, files, rows, and open files and sockets of this process. */
async function count() {
  const { rows } = await database.database.pool.query<{ sessions: number; claims: number; hosts: number }>(
    `select (select count(*) from vitto_vm_sessions)::int as sessions,
      (select count(*) from vitto_vm_claims)::int as claims,
      (select count(*) from vitto_sandbox_hosts)::int as hosts`,
  );
  const [names, descriptors, processes] = await Promise.all([
    readdir(qemu.root, { recursive: true }),
    readdir('/proc/self/fd'),
    countProcesses(qemu.root),
  ]);
  return { ...rows[0], files: names.length, descriptors: descriptors.length, processes };
}

/** Those that were started with something in the folder. */
async function countProcesses(folder: string): Promise<number> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  // One may end while it is looked at.
  const lines = await Promise.all(
    pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
  );
  return lines.filter((line) => line.includes(folder)).length;
}
