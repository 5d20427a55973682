import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../../kernel/ids.ts';
import { SessionsHarness, type TestHost } from './testing-sessions.ts';

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

const run = (sandboxId: string, taskId: string, command: string) =>
  host.manager.guest(sandboxId, { taskId, fence: 1 }).exec({ command, timeoutMs: 20_000 });
const recall = async (taskId = newId()) => {
  const created = await host.acquire(userId, { taskId });
  return { ...created, word: (await run(created.sandboxId, taskId, 'recall')).stdout.text.trim() };
};
/** A running machine whose memory holds a word. */
async function running(taskId = newId()): Promise<string> {
  const { sandboxId } = await host.acquire(userId, { taskId });
  await run(sandboxId, taskId, 'remember word');
  return sandboxId;
}

describe('a host process that is killed', () => {
  it('while a VM runs: the next one takes it up with its claims', async () => {
    const taskId = newId();
    const sandboxId = await running(taskId);
    await host.restart();
    expect((await run(sandboxId, taskId, 'recall')).stdout.text).toBe('word\n');
    expect(await host.acquire(userId)).toMatchObject({ from: 'session', sandboxId });
    expect(await host.manager.list(userId)).toMatchObject([{ state: 'running', claims: [{}, {}] }]);
    expect(host.manager.counts.running).toBe(1);
  });

  it('while a VM without claims runs: the next one lets it linger and suspends it', async () => {
    const taskId = newId();
    const sandboxId = await running(taskId);
    await host.release(sandboxId, taskId);
    await host.restart({ policy: { lingerMs: 1 } });
    await expect.poll(async () => (await harness.machine(userId))['state']).toBe('suspended');
    expect(await recall()).toMatchObject({ from: 'user-snapshot', word: 'word' });
  });

  it('and its VM with it: the session is lost and its disk is booted', async () => {
    const taskId = newId();
    await running(taskId);
    const [vm] = host.hardware.vms.values();
    host.provider.kill(vm?.id ?? '');
    host.manager.standBack();
    await host.restart();
    expect(await harness.machine(userId)).toMatchObject({ state: 'lost', vm_id: null });
    expect(host.ends.at(-1)).toMatchObject({ taskId, how: 'lost' });
    expect(host.hardware.vms.size).toBe(0);
    const next = await recall();
    expect(next).toMatchObject({ from: 'user-disk', word: '' });
    expect(next.notices.join()).toContain('while its host was away');
  });

  it('before a VM is there, or just after: nothing is left of a first start', async () => {
    const held = host.provider.faults.holdNext('restore');
    void host.acquire(userId).catch(() => undefined);
    await held.entered;
    expect(await harness.machine(userId)).toMatchObject({ state: 'starting' });
    await host.restart();
    expect(await harness.machine(userId)).toEqual({});
    expect((await recall()).from).toBe('base-snapshot');
    held.release();
  });

  it('while it restores: the snapshot is still there', async () => {
    const sandboxId = await running();
    await host.manager.snapshot(sandboxId, userId);
    const held = host.provider.faults.holdNext('restore');
    void host.acquire(userId).catch(() => undefined);
    await held.entered;
    await host.restart();
    expect(await harness.machine(userId)).toMatchObject({ state: 'suspended', is_snapshot_current: true });
    expect(await recall()).toMatchObject({ from: 'user-snapshot', word: 'word' });
    held.release();
  });

  it('before its snapshot is complete: the disk is booted, not an older snapshot', async () => {
    const sandboxId = await running();
    await host.manager.snapshot(sandboxId, userId);
    await host.acquire(userId);
    const held = host.provider.faults.holdNext('suspend');
    void host.manager.snapshot(sandboxId, userId).catch(() => undefined);
    await held.entered;
    await host.restart();
    expect(await harness.machine(userId)).toMatchObject({ state: 'lost', is_snapshot_current: false });
    expect(host.hardware.vms.size).toBe(0);
    expect(await recall()).toMatchObject({ from: 'user-disk', word: '' });
    held.release();
  });

  it('after its snapshot is complete, before that was written down: it is restored', async () => {
    const sandboxId = await running();
    const suspend = host.provider.suspend.bind(host.provider);
    const done = Promise.withResolvers<void>();
    host.provider.suspend = async (vm) => {
      await suspend(vm);
      done.resolve();
      return new Promise(() => undefined);
    };
    void host.manager.snapshot(sandboxId, userId).catch(() => undefined);
    await done.promise;
    expect(await harness.machine(userId)).toMatchObject({ state: 'suspending' });
    await host.restart();
    expect(await harness.machine(userId)).toMatchObject({ state: 'suspended', is_snapshot_current: true });
    expect(await recall()).toMatchObject({ from: 'user-snapshot', word: 'word' });
  });

  it('leaves VMs without a row and folders without one, which go', async () => {
    await running();
    const stray = newId();
    await mkdir(join(host.folder, 'machines', stray), { recursive: true });
    await harness.query('delete from vitto_users where id = $1', [userId]);
    await host.restart();
    expect(host.hardware.vms.size).toBe(0);
    await host.manager.beat();
    expect(await readdir(join(host.folder, 'machines'))).toEqual([]);
  });

  it('and is not dead: the later one speaks for the host, and the earlier leaves everything alone', async () => {
    const taskId = newId();
    const sandboxId = await running(taskId);
    const earlier = host.manager;
    const later = await harness.addHost({ folder: host.folder, provider: host.provider });
    await earlier.beat();
    await expect(
      earlier.acquire({
        taskId: newId(),
        userId,
        template: 'minimal',
        fence: 1,
        network: { packageRegistries: false, hosts: [] },
      }),
    ).rejects.toMatchObject({ code: 'sandbox.unavailable' });
    const word = await later.manager
      .guest(sandboxId, { taskId, fence: 1 })
      .exec({ command: 'recall', timeoutMs: 5_000 });
    expect(word.stdout.text).toBe('word\n');
    expect(host.hardware.vms.size).toBe(1);
  });

  it('leaves folders alone that another database knows', async () => {
    const other = await SessionsHarness.open();
    try {
      const sandboxId = await running();
      await host.manager.snapshot(sandboxId, userId);
      await mkdir(join(host.folder, 'machines', sandboxId), { recursive: true });
      const foreign = await other.addHost({ folder: host.folder, provider: host.provider });
      await foreign.manager.beat();
      expect(await readdir(join(host.folder, 'machines'))).toEqual([sandboxId]);
    } finally {
      await other.close();
    }
  });
});

describe('a host that stops', () => {
  it('suspends its VMs, and the next one restores them', async () => {
    const taskId = newId();
    await running(taskId);
    await host.manager.stop();
    expect(host.ends).toMatchObject([{ taskId, how: 'released' }]);
    await host.restart();
    expect(await recall()).toMatchObject({ from: 'user-snapshot', word: 'word' });
  });

  it('ends those that take longer than it may, and keeps their disks', async () => {
    await running();
    host.provider.faults.holdNext('suspend');
    await host.manager.stop(10);
    expect(host.hardware.vms.size).toBe(0);
    await host.restart();
    expect((await recall()).from).toBe('user-disk');
  });
});

describe('a user that is no more', () => {
  it('takes the machine along while it runs', async () => {
    await running();
    await harness.query('delete from vitto_users where id = $1', [userId]);
    await host.manager.beat();
    await expect.poll(() => host.hardware.vms.size).toBe(0);
    await expect.poll(() => host.hardware.machines.size).toBe(0);
  });
});
