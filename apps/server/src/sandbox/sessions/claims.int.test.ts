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

const guest = (sandboxId: string, taskId: string, fence = 1) =>
  host.manager.guest(sandboxId, { taskId, fence });
const run = (sandboxId: string, taskId: string, command: string, fence = 1) =>
  guest(sandboxId, taskId, fence).exec({ command, timeoutMs: 20_000 });
const claims = () => harness.query('select * from vitto_vm_claims where user_id = $1', [userId]);
const ownerOf = async (id: string) =>
  (await harness.query('select user_id from vitto_vm_sessions where id = $1', [id]))[0]?.['user_id'];
const stateOf = async () => (await harness.machine(userId))['state'];

describe('claims on a session', () => {
  it('are one VM for twenty tasks that come at the same time', async () => {
    const held = host.provider.faults.holdNext('restore');
    const all = Array.from({ length: 20 }, () => host.acquire(userId));
    await held.entered;
    held.release();
    const created = await Promise.all(all);
    expect(new Set(created.map((one) => one.sandboxId)).size).toBe(1);
    expect(created.map((one) => one.from).sort()).toEqual(['base-snapshot', ...Array(19).fill('session')]);
    expect(host.provider.faults.counts.restore).toBe(1);
    expect(await claims()).toHaveLength(20);
    expect(host.manager.counts.running).toBe(1);
  });

  it('all get the same refusal when the one start fails, and it is tried once', async () => {
    await host.restart({ maxConcurrent: 1 });
    host.hardware.baseSnapshots.clear();
    const blocker = await host.acquire(await harness.addUser());
    const waiting: number[] = [];
    const settled = Promise.allSettled(
      Array.from({ length: 5 }, () =>
        host.acquire(userId, { onWaiting: ({ place }) => waiting.push(place) }),
      ),
    );
    await expect.poll(() => waiting).toEqual([1, 1, 1, 1, 1]);
    host.provider.faults.failNext('create');
    await host.manager.destroy(blocker.sandboxId, (await ownerOf(blocker.sandboxId)) as string);
    expect((await settled).map((one) => one.status)).toEqual(Array(5).fill('rejected'));
    expect(host.provider.faults.counts.create).toBe(2);
    expect(await claims()).toEqual([]);
  });

  it('are one after the other, in the order in which they came, where sessions are not shared', async () => {
    await host.restart({ policy: { reuseActive: false } });
    const tasks = [newId(), newId(), newId()];
    const order: number[] = [];
    const places: number[][] = [[], [], []];
    const [first = ''] = tasks;
    const { sandboxId } = await host.acquire(userId, { taskId: first });
    const come = async (n: number) => {
      const taskId = tasks[n + 1] ?? '';
      const onWaiting = ({ place }: { place: number }) => places[n]?.push(place);
      const sandbox = await host.acquire(userId, { taskId, onWaiting });
      order.push(n);
      return sandbox;
    };
    const others = [come(0)];
    // Who comes first is known once it stands in the line.
    await expect.poll(() => places[0]).toEqual([1]);
    others.push(come(1));
    const given = new AbortController();
    const leaver = host.acquire(userId, { signal: given.signal });
    given.abort(new Error('gone'));
    await expect(leaver).rejects.toThrow('gone');
    await expect.poll(() => places.map((told) => told.at(0))).toEqual([1, 2, undefined]);
    expect(await claims()).toHaveLength(1);
    // The same task has it already.
    await host.acquire(userId, { taskId: first });
    await host.release(sandboxId, first);
    expect((await others[0])?.sandboxId).toBe(sandboxId);
    expect(await claims()).toMatchObject([{ task_id: tasks[1] }]);
    await host.release(sandboxId, tasks[1] ?? '');
    expect((await others[1])?.sandboxId).toBe(sandboxId);
    expect(order).toEqual([0, 1]);
  });

  it('count once for the same task', async () => {
    const taskId = newId();
    const { sandboxId } = await host.acquire(userId, { taskId });
    await host.acquire(userId, { taskId });
    expect(await claims()).toHaveLength(1);
    await host.release(sandboxId, taskId);
    await host.release(sandboxId, taskId);
    expect(await claims()).toEqual([]);
  });

  it('keep the VM until the last is released and the lingering is over', async () => {
    await host.restart({ policy: { lingerMs: 1 } });
    const [one, two] = [newId(), newId()];
    const { sandboxId } = await host.acquire(userId, { taskId: one });
    await host.acquire(userId, { taskId: two });
    await run(sandboxId, one, 'remember it');
    await host.release(sandboxId, one);
    expect((await run(sandboxId, two, 'recall')).stdout.text).toBe('it\n');
    await host.release(sandboxId, two);
    await expect.poll(stateOf).toBe('suspended');
    expect(host.hardware.vms.size).toBe(0);
    expect((await host.acquire(userId)).from).toBe('user-snapshot');
  });

  it('come back during the lingering to the running session', async () => {
    const taskId = newId();
    const { sandboxId } = await host.acquire(userId, { taskId });
    await host.release(sandboxId, taskId);
    expect(await host.acquire(userId)).toMatchObject({ from: 'session', sandboxId });
  });

  it('that come while it is suspended wait for that and restore it', async () => {
    await host.restart({ policy: { lingerMs: 1 } });
    const held = host.provider.faults.holdNext('suspend');
    const taskId = newId();
    const { sandboxId } = await host.acquire(userId, { taskId });
    await host.release(sandboxId, taskId);
    await held.entered;
    expect(await stateOf()).toBe('suspending');
    const next = host.acquire(userId);
    held.release();
    expect(await next).toMatchObject({ from: 'user-snapshot', sandboxId });
  });

  it('released without a snapshot leave the disk', async () => {
    await host.restart({ policy: { lingerMs: 1, snapshotOnRelease: false } });
    const taskId = newId();
    const { sandboxId } = await host.acquire(userId, { taskId });
    await guest(sandboxId, taskId).writeFile({ path: '/home/user/f', content: 'x', encoding: 'utf8' });
    await host.release(sandboxId, taskId);
    await expect.poll(stateOf).toBe('suspended');
    expect(host.provider.faults.counts.suspend).toBe(0);
    expect(await host.acquire(userId)).toMatchObject({ from: 'user-disk', notices: [] });
  });

  it('of a broken session end with it, and the others are told', async () => {
    const [one, two] = [newId(), newId()];
    const { sandboxId } = await host.acquire(userId, { taskId: one });
    await host.acquire(userId, { taskId: two });
    await host.release(sandboxId, one, { isBroken: true });
    expect(host.ends).toMatchObject([{ taskId: two, how: 'lost' }]);
    expect(host.provider.faults.counts.suspend).toBe(0);
    const next = await host.acquire(userId);
    expect(next.from).toBe('user-disk');
    expect(next.notices.join()).toContain('broken');
  });

  it('that make no call for long are released, and their tasks are told', async () => {
    await host.restart({ policy: { maxLifetimeMs: 60_000 } });
    const [idle, busy, quiet] = [newId(), newId(), newId()];
    const { sandboxId } = await host.acquire(userId, { taskId: idle });
    await host.acquire(userId, { taskId: busy });
    await host.acquire(userId, { taskId: quiet });
    const stop = new AbortController();
    const hanging = guest(sandboxId, quiet).exec({
      command: 'hang',
      timeoutMs: 60_000,
      signal: stop.signal,
    });
    await harness.query("update vitto_vm_claims set last_call_at = now() - interval '1 hour'");
    await run(sandboxId, busy, 'true');
    await host.manager.beat();
    expect((await claims()).map((claim) => claim['task_id']).sort()).toEqual([busy, quiet].sort());
    expect(host.ends).toMatchObject([{ taskId: idle, how: 'released' }]);
    await expect(run(sandboxId, idle, 'true')).rejects.toMatchObject({ code: 'session-lost' });
    stop.abort(new Error('enough'));
    await expect(hanging).rejects.toThrow();
  });

  it('move to the worker that takes the task over, and the older one is refused', async () => {
    const taskId = newId();
    const { sandboxId } = await host.acquire(userId, { taskId, fence: 3 });
    await run(sandboxId, taskId, 'true', 3);
    await run(sandboxId, taskId, 'true', 4);
    await expect(run(sandboxId, taskId, 'true', 3)).rejects.toMatchObject({ code: 'sandbox.stale-fence' });
    await expect(host.acquire(userId, { taskId, fence: 3 })).rejects.toMatchObject({
      code: 'sandbox.stale-fence',
    });
    await host.acquire(userId, { taskId, fence: 5 });
    expect(await claims()).toMatchObject([{ fence: '5' }]);
    // A late word of the worker that had it before.
    await expect(host.release(sandboxId, taskId, { fence: 4 })).rejects.toMatchObject({
      code: 'sandbox.stale-fence',
    });
    await host.restart();
    await expect(host.release(sandboxId, taskId, { fence: 4 })).rejects.toMatchObject({
      code: 'sandbox.stale-fence',
    });
    expect(await claims()).toMatchObject([{ fence: '5' }]);
    await expect(run(sandboxId, taskId, 'true', 4)).rejects.toMatchObject({ code: 'sandbox.stale-fence' });
  });

  it('are needed for a call, and nobody has them in the machine of another', async () => {
    const taskId = newId();
    const { sandboxId } = await host.acquire(userId, { taskId });
    await expect(run(sandboxId, newId(), 'true')).rejects.toMatchObject({ code: 'session-lost' });
    const other = await harness.addUser();
    await expect(host.manager.snapshot(sandboxId, other)).rejects.toMatchObject({
      code: 'sandbox.not-found',
    });
    await expect(host.manager.open(sandboxId, other)).rejects.toMatchObject({ code: 'sandbox.not-found' });
    await host.manager.destroy(sandboxId, other);
    await host.manager.forget(sandboxId, other);
    expect((await run(sandboxId, taskId, 'true')).exitCode).toBe(0);
    expect(await host.manager.list(other)).toEqual([]);
    expect(await host.manager.userSandbox(other)).toMatchObject({ exists: false });
    await expect(
      harness.query(
        'insert into vitto_vm_claims (session_id, task_id, user_id, fence) values ($1, $2, $3, 1)',
        [sandboxId, newId(), other],
      ),
    ).rejects.toThrow(/foreign key/);
  });
});

describe('a VM that ends by itself', () => {
  it('ends the calls under way and the claims, and the disk is booted next', async () => {
    const taskId = newId();
    const { sandboxId } = await host.acquire(userId, { taskId });
    const call = run(sandboxId, taskId, 'hang');
    const ended = expect(call).rejects.toMatchObject({ code: 'session-lost' });
    const [vm] = host.hardware.vms.values();
    host.provider.kill(vm?.id ?? '');
    await ended;
    await expect.poll(stateOf).toBe('lost');
    expect(host.ends).toMatchObject([{ taskId, how: 'lost' }]);
    expect(await claims()).toEqual([]);
    expect(host.manager.counts.running).toBe(0);
    const next = await host.acquire(userId, { taskId });
    expect(next).toMatchObject({ from: 'user-disk', sandboxId });
    expect(next.notices.join()).toContain('files are kept');
  });

  it('is not restored from an older snapshot: the disk is newer', async () => {
    const { sandboxId } = await host.acquire(userId);
    await host.manager.snapshot(sandboxId, userId);
    await host.acquire(userId);
    const [vm] = host.hardware.vms.values();
    host.provider.kill(vm?.id ?? '');
    await expect.poll(stateOf).toBe('lost');
    expect((await host.acquire(userId)).from).toBe('user-disk');
  });

  it('while its snapshot is taken leaves its disk', async () => {
    const { sandboxId } = await host.acquire(userId);
    host.provider.faults.failNext('suspend');
    await host.manager.snapshot(sandboxId, userId);
    expect(await stateOf()).toBe('lost');
    expect((await host.acquire(userId)).from).toBe('user-disk');
  });

  it('cannot be told from one whose end fails: no second VM of it is started before the first is gone', async () => {
    const { sandboxId } = await host.acquire(userId);
    host.provider.faults.failNext('destroy');
    await expect(host.manager.destroy(sandboxId, userId)).rejects.toThrow();
    expect(await host.acquire(userId)).toMatchObject({ from: 'user-disk' });
    expect(host.hardware.vms.size).toBe(1);
  });
});

describe('people', () => {
  it('see machines, claims and commands', async () => {
    const taskId = newId();
    const { sandboxId } = await host.acquire(userId, { taskId });
    const stop = new AbortController();
    const hanging = guest(sandboxId, taskId)
      .exec({ command: 'hang', timeoutMs: 60_000, signal: stop.signal })
      .catch(() => undefined);
    await expect
      .poll(async () => (await host.manager.list(userId))[0]?.commands)
      .toMatchObject([{ command: 'hang', taskId }]);
    expect(await host.manager.list(userId)).toMatchObject([
      { id: sandboxId, state: 'running', from: 'base-snapshot', claims: [{ taskId }], memoryBytes: 67108864 },
    ]);
    stop.abort(new Error('enough'));
    await hanging;
    await host.manager.snapshot(sandboxId, userId);
    expect(await host.manager.userSandbox(userId)).toMatchObject({
      exists: true,
      state: 'suspended',
      snapshotAgeDays: 0,
      template: 'minimal',
    });
  });

  it('forget a machine with all that is kept of it', async () => {
    const { sandboxId } = await host.acquire(userId);
    await host.manager.forget(sandboxId, userId);
    await host.manager.forget(sandboxId, userId);
    expect([host.hardware.vms.size, host.hardware.machines.size]).toEqual([0, 0]);
    expect(await harness.machine(userId)).toEqual({});
    const next = await host.acquire(userId);
    expect(next.from).toBe('base-snapshot');
    expect(next.sandboxId).not.toBe(sandboxId);
  });
});
