import { open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase } from '../../kernel/database/testing.ts';
import { newId } from '../../kernel/ids.ts';
import { hasImage, openQemu, type QemuUnderTest } from '../providers/qemu/testing-qemu.ts';
import type { ClaimEnd } from './session-types.ts';
import { HostProcess, NOTHING, qemuHost, type QemuHostOptions } from './testing-host-process.ts';
import type { VmSessionManagerService } from './vm-session-manager-service.ts';

const SIZES = { memoryMib: 512, cpus: 1, diskGib: 4 };
const PATIENCE = { timeout: 60_000, interval: 5 };
const STEP = { timeout: 600_000 };

let qemu: QemuUnderTest;
let database: Awaited<ReturnType<typeof createTestDatabase>>;
let options: QemuHostOptions;
let manager: VmSessionManagerService;
let provider: ReturnType<typeof qemuHost>['provider'];
const ends: ClaimEnd[] = [];

beforeAll(async () => {
  qemu = await openQemu();
  database = await createTestDatabase();
  options = { folder: qemu.root, image: qemu.image, sizes: SIZES };
  const base = { vmId: newId(), machineFolder: join(qemu.root, 'base'), userNumber: 0, image: qemu.image };
  await qemu.open().makeBaseSnapshot({ ...base, ...SIZES });
  await restart();
}, 600_000);
afterAll(async () => {
  manager?.standBack();
  await qemu?.close();
  await database?.drop();
});

async function restart(): Promise<void> {
  manager?.standBack();
  ({ manager, provider } = qemuHost(database.database, options, ends));
  await manager.start();
}
async function addUser(): Promise<string> {
  const id = newId();
  await database.database.pool.query("insert into vitto_users (id, name, role) values ($1, 'Ana', 'owner')", [
    id,
  ]);
  return id;
}
const acquire = async (userId: string, taskId = newId()) => {
  const request = { taskId, userId, template: qemu.image.name, fence: 1, network: NOTHING };
  const created = await manager.acquire(request);
  const guest = manager.guest(created.sandboxId, { taskId, fence: 1 });
  const sh = async (command: string): Promise<string> => {
    const result = await guest.exec({ command, timeoutMs: 60_000 });
    return `${result.stdout.text}${result.stderr.text}`.trim();
  };
  return { ...created, taskId, guest, sh };
};
const rowOf = async (userId: string) =>
  (await database.database.pool.query('select * from vitto_vm_sessions where user_id = $1', [userId]))
    .rows[0] as Record<string, unknown> | undefined;

describe.skipIf(!hasImage)('machines of two users', () => {
  it('come from one base snapshot and share nothing', STEP, async () => {
    const users = [await addUser(), await addUser()];
    const pair = [await acquire(users[0] as string), await acquire(users[1] as string)];
    expect(pair.map((one) => one.from)).toEqual(['base-snapshot', 'base-snapshot']);
    for (const question of [
      'cat /proc/sys/kernel/random/uuid',
      'cat /etc/machine-id',
      'sudo cat /etc/ssh/ssh_host_ed25519_key',
    ]) {
      const [one, two] = [await pair[0]?.sh(question), await pair[1]?.sh(question)];
      expect(one?.length).toBeGreaterThan(20);
      expect(one).not.toBe(two);
    }
    for (const [n, userId] of users.entries()) await manager.forget(pair[n]?.sandboxId ?? '', userId);
    expect(await readdir(join(qemu.root, 'machines'))).toEqual([]);
  });
});

describe.skipIf(!hasImage)('a machine', () => {
  let userId: string;
  beforeAll(async () => {
    userId = await addUser();
  });

  it(
    'comes back from its snapshot with what ran, with the time of now and other randomness',
    STEP,
    async () => {
      const { sh, sandboxId } = await acquire(userId);
      const key = await sh('sudo cat /etc/ssh/ssh_host_ed25519_key');
      await sh('echo word >/dev/shm/word; echo kept >kept');
      await manager.snapshot(sandboxId, userId);
      expect(await rowOf(userId)).toMatchObject({ state: 'suspended', is_snapshot_current: true });

      const again = await acquire(userId);
      expect(again).toMatchObject({ from: 'user-snapshot', restored: true, notices: [], sandboxId });
      const before = Date.now();
      const guestMs = Number(await again.sh('date +%s%3N'));
      expect(guestMs).toBeGreaterThan(before - 2_000);
      expect(guestMs).toBeLessThan(Date.now() + 2_000);
      expect(await again.sh('cat /dev/shm/word kept')).toBe('word\nkept');
      expect(await again.sh('sudo cat /etc/ssh/ssh_host_ed25519_key')).not.toBe(key);
    },
  );

  it(
    'whose QEMU is killed ends the calls under way, and starts from its disk with the newest files',
    STEP,
    async () => {
      const { sh, guest, taskId } = await acquire(userId);
      await sh('echo newer >kept; sync');
      const call = guest.exec({ command: 'sleep 600', timeoutMs: 600_000 });
      const lost = expect(call).rejects.toMatchObject({ code: 'session-lost' });
      await expect.poll(async () => (await manager.list(userId))[0]?.commands.length).toBe(1);
      process.kill(manager.sandboxOf((await manager.list(userId))[0]?.id ?? '').vm.pid ?? 0, 'SIGKILL');
      await lost;
      await expect.poll(async () => (await rowOf(userId))?.['state']).toBe('lost');
      expect(ends.some((end) => end.taskId === taskId && end.how === 'lost')).toBe(true);
      const again = await acquire(userId);
      expect(again.from).toBe('user-disk');
      expect(again.notices.join()).toContain('files are kept');
      expect(await again.sh('cat kept; ls /dev/shm')).toBe('newer');
    },
  );

  it(
    'with a flipped bit or a short file in its snapshot starts from its disk and says why',
    STEP,
    async () => {
      const { sandboxId } = await acquire(userId);
      await manager.snapshot(sandboxId, userId);
      await damage(await memoryFile(sandboxId), 'flip');
      const flipped = await acquire(userId);
      expect([flipped.from, await flipped.sh('cat kept')]).toEqual(['user-disk', 'newer']);
      expect(flipped.notices).toHaveLength(1);
      await manager.snapshot(sandboxId, userId);
      await damage(await memoryFile(sandboxId), 'truncate');
      const short = await acquire(userId);
      expect([short.from, await short.sh('cat kept')]).toEqual(['user-disk', 'newer']);
      expect(short.notices).toHaveLength(1);
      await manager.forget(sandboxId, userId);
    },
  );
});

describe.skipIf(!hasImage)('a host process that is killed', () => {
  it('while it starts, runs, snapshots and restores a machine leaves one that comes back', STEP, async () => {
    const userId = await addUser();
    const taskId = newId();
    const host = async (during: string, work: (child: HostProcess) => unknown): Promise<void> => {
      manager.standBack();
      const child = await HostProcess.start(database.url, options);
      await work(child);
      await expect.poll(async () => (await rowOf(userId))?.['state'], PATIENCE).toBe(during);
      await child.kill();
      await restart();
    };
    await host('starting', (child) => child.tell('acquire', userId, taskId));
    expect(await rowOf(userId)).toBeUndefined();
    expect(await provider.list()).toEqual([]);

    await host('running', (child) => child.tell('acquire', userId, taskId));
    const adopted = await acquire(userId, taskId);
    expect(adopted.from).toBe('session');
    await adopted.sh('echo word >/dev/shm/word; echo kept >kept; sync');

    // It was taken over by this process, which lets it go to the one that is killed.
    await host('suspending', (child) => child.tell('snapshot', userId, taskId));
    const snapshotted = await acquire(userId, taskId);
    expect(['user-snapshot', 'user-disk']).toContain(snapshotted.from);
    expect(await snapshotted.sh('cat kept')).toBe('kept');

    await snapshotted.sh('echo word >/dev/shm/word');
    await manager.snapshot(snapshotted.sandboxId, userId);
    await host('starting', (child) => child.tell('acquire', userId, taskId));
    const restored = await acquire(userId, taskId);
    expect(restored.from).toBe('user-snapshot');
    expect(await restored.sh('cat /dev/shm/word kept')).toBe('word\nkept');
    await manager.forget(restored.sandboxId, userId);
    expect(await provider.list()).toEqual([]);
  });
});

/** The biggest file of a machine's snapshot: its memory. */
async function memoryFile(sandboxId: string): Promise<string> {
  const folder = join(qemu.root, 'machines', sandboxId, 'snapshots');
  const names = (await readdir(folder, { recursive: true })).map((name) => join(folder, name));
  const sizes = await Promise.all(names.map(async (name) => ({ name, size: (await stat(name)).size })));
  return sizes.sort((a, b) => b.size - a.size)[0]?.name ?? '';
}

async function damage(file: string, how: 'flip' | 'truncate'): Promise<void> {
  const handle = await open(file, 'r+');
  try {
    if (how === 'truncate') return await handle.truncate(4_000_000);
    // What was never used is a hole, and no part of the snapshot.
    const chunk = Buffer.alloc(1024 * 1024);
    for (let from = 0; ; from += chunk.length) {
      await handle.read(chunk, 0, chunk.length, from);
      const at = chunk.findIndex((byte) => byte !== 0);
      if (at === -1) continue;
      await handle.write(Buffer.from([(chunk[at] ?? 0) ^ 1]), 0, 1, from + at);
      return;
    }
  } finally {
    await handle.close();
  }
}
