import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../../kernel/ids.ts';
import { ProviderError } from '../providers/sandbox-provider.ts';
import { IMAGE, SessionsHarness, type TestHost } from './testing-sessions.ts';

let harness: SessionsHarness;
let host: TestHost;
let userId: string;

beforeAll(async () => {
  harness = await SessionsHarness.open();
});
beforeEach(async () => {
  host = await harness.addHost();
  userId = await harness.addUser();
});
afterAll(() => harness.close());

const say = (sandboxId: string, taskId: string, command: string) =>
  host.manager.guest(sandboxId, { taskId, fence: 1 }).exec({ command, timeoutMs: 5_000 });
const folderOf = (sandboxId: string) => join(host.folder, 'machines', sandboxId);

/** A machine that has run and remembers a word in its memory and one on its disk. */
async function suspendedMachine(): Promise<string> {
  const taskId = newId();
  const { sandboxId } = await host.acquire(userId, { taskId });
  await say(sandboxId, taskId, 'remember memory');
  await host.manager
    .guest(sandboxId, { taskId, fence: 1 })
    .writeFile({ path: '/home/user/word', content: 'disk', encoding: 'utf8' });
  await host.manager.snapshot(sandboxId, userId);
  return sandboxId;
}
async function recall(): Promise<{ from: string; notices: string[]; memory: string; disk: string }> {
  const taskId = newId();
  const { sandboxId, from, notices } = await host.acquire(userId, { taskId });
  const memory = (await say(sandboxId, taskId, 'recall')).stdout.text.trim();
  const disk = (await say(sandboxId, taskId, 'cat /home/user/word')).stdout.text;
  return { from, notices, memory, disk };
}

describe('how a machine comes', () => {
  it('is the running session where there is one', async () => {
    const first = await host.acquire(userId);
    const second = await host.acquire(userId);
    expect([first.from, second.from]).toEqual(['base-snapshot', 'session']);
    expect(second.sandboxId).toBe(first.sandboxId);
    expect(await harness.machine(userId)).toMatchObject({ state: 'running', origin: 'base-snapshot' });
  });

  it("is the user's snapshot, with what was in memory", async () => {
    await suspendedMachine();
    expect(await recall()).toEqual({ from: 'user-snapshot', notices: [], memory: 'memory', disk: 'disk' });
  });

  it('is the disk when the snapshot is too old, and says so', async () => {
    const sandboxId = await suspendedMachine();
    const snapshot = host.hardware.machines.get(folderOf(sandboxId))?.snapshot;
    if (snapshot) snapshot.createdAt = new Date(Date.now() - 8 * 86_400_000);
    const { notices, ...came } = await recall();
    expect(came).toEqual({ from: 'user-disk', memory: '', disk: 'disk' });
    expect(notices.join()).toContain('older than 7 days');
  });

  it('is the disk when the snapshot is damaged, found before or while it is restored', async () => {
    const sandboxId = await suspendedMachine();
    host.provider.damageSnapshot(folderOf(sandboxId), 'a checksum is wrong');
    const before = await recall();
    expect(before).toMatchObject({ from: 'user-disk', memory: '', disk: 'disk' });
    expect(before.notices.join()).toContain('a checksum is wrong');

    await host.manager.snapshot(sandboxId, userId);
    host.provider.faults.failNext('restore', new ProviderError('snapshot-unusable', 'a bit is flipped'));
    const during = await recall();
    expect(during).toMatchObject({ from: 'user-disk', disk: 'disk' });
    expect(during.notices.join()).toContain('a bit is flipped');
  });

  it('is the image, booted, when there is no base snapshot or it cannot be used', async () => {
    host.provider.faults.failNext('restore', new ProviderError('snapshot-unusable', 'truncated'));
    expect(await host.acquire(userId)).toMatchObject({ from: 'boot', restored: false });
    host.hardware.baseSnapshots.clear();
    expect(await host.acquire(await harness.addUser())).toMatchObject({ from: 'boot', notices: [] });
  });

  it('never starts a machine with a disk without it', async () => {
    const sandboxId = await suspendedMachine();
    host.provider.damageSnapshot(folderOf(sandboxId));
    host.provider.faults.failNext('create');
    await expect(host.acquire(userId)).rejects.toMatchObject({ code: 'sandbox.start-failed' });
    expect(await recall()).toMatchObject({ from: 'user-disk', disk: 'disk' });
  });

  it('is a new one, and says so, when its disk was taken away', async () => {
    const sandboxId = await suspendedMachine();
    host.hardware.machines.clear();
    const { notices, ...created } = await host.acquire(userId);
    expect(created.from).toBe('base-snapshot');
    expect(created.sandboxId).not.toBe(sandboxId);
    expect(notices.join()).toContain('gone');
  });

  it('has its clock, randomness and keys set before anything runs, or is not used', async () => {
    await host.acquire(userId);
    const [vm] = host.hardware.vms.values();
    expect(vm?.guest.resumes).toBe(1);
    const base = host.hardware.baseSnapshots.get(IMAGE.hash);
    if (base) base.clockOffSeconds = 10;
    const other = await host.acquire(await harness.addUser());
    expect(other.from).toBe('boot');
    expect(other.notices.join()).toContain('clock');
    expect(host.hardware.vms.size).toBe(2);
  });

  it('is none for a user that is not there (any more)', async () => {
    await expect(host.acquire(newId())).rejects.toMatchObject({ code: 'user.not-found', status: 404 });
  });

  it('leaves nothing of a first start that failed', async () => {
    host.hardware.baseSnapshots.clear();
    host.provider.faults.failNext('create');
    await expect(host.acquire(userId)).rejects.toMatchObject({ code: 'sandbox.start-failed' });
    expect(await harness.machine(userId)).toEqual({});
    expect([host.hardware.vms.size, host.hardware.machines.size]).toEqual([0, 0]);
    expect(await host.acquire(userId)).toMatchObject({ from: 'boot' });
  });

  it('says why there is none: no VMs here, no image', async () => {
    host.provider.unavailable = 'QEMU is missing.';
    await expect(host.acquire(userId)).rejects.toMatchObject({
      code: 'sandbox.unavailable',
      message: 'QEMU is missing.',
    });
    expect(await harness.machine(userId)).toEqual({});
  });

  it('keeps to the image that its disk was made on', async () => {
    const asked: (string | null)[] = [];
    await host.restart({ findImage: async (_, hash) => (asked.push(hash), IMAGE) });
    const sandboxId = await suspendedMachine();
    asked.length = 0;
    await host.acquire(userId);
    expect(asked).toEqual([IMAGE.hash]);
    expect(sandboxId).toBeTruthy();
  });
});
