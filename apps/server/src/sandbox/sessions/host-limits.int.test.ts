import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import { SessionsHarness, type TestHost } from './testing-sessions.ts';

let harness: SessionsHarness;
beforeAll(async () => {
  harness = await SessionsHarness.open();
});
afterAll(() => harness.close());

const rows = async (table: string) =>
  Number((await harness.query(`select count(*) from ${table}`))[0]?.['count']);
const run = (host: TestHost, sandboxId: string, taskId: string, command: string) =>
  host.manager.guest(sandboxId, { taskId, fence: 1 }).exec({ command, timeoutMs: 20_000 });

describe('room on a host', () => {
  it('is waited for with a place that is told, and is given as soon as there is some', async () => {
    const host = await harness.addHost({ maxConcurrent: 1 });
    const first = await harness.addUser();
    const { sandboxId } = await host.acquire(first);
    const places: number[][] = [[], []];
    const next = [0, 1].map(async (n) => {
      const userId = await harness.addUser();
      const got = await host.acquire(userId, { onWaiting: ({ place }) => places[n]?.push(place) });
      return { userId, ...got };
    });
    await expect.poll(() => places.flat().sort()).toEqual([1, 2]);
    expect(host.manager.counts).toEqual({ running: 1, waiting: 2, maxConcurrent: 1 });
    await host.manager.snapshot(sandboxId, first);
    const came = await Promise.race(next);
    await expect.poll(() => places.flat().sort()).toEqual([1, 1, 2]);
    await host.manager.destroy(came.sandboxId, came.userId);
    await Promise.all(next);
    expect(host.hardware.vms.size).toBe(1);
  });

  it('is given up at once by sessions that only linger', async () => {
    const host = await harness.addHost({ maxConcurrent: 1 });
    const taskId = newId();
    const { sandboxId } = await host.acquire(await harness.addUser(), { taskId });
    await host.release(sandboxId, taskId);
    expect((await host.acquire(await harness.addUser())).from).toBe('base-snapshot');
    expect(host.provider.faults.counts.suspend).toBe(1);
  });

  it('is not given to who has gone', async () => {
    const host = await harness.addHost({ maxConcurrent: 1 });
    await host.acquire(await harness.addUser());
    const gone = new AbortController();
    const waits = Promise.withResolvers<void>();
    const waiting = host.acquire(await harness.addUser(), {
      signal: gone.signal,
      onWaiting: () => waits.resolve(),
    });
    const refused = expect(waiting).rejects.toThrow('gone');
    await waits.promise;
    gone.abort(new Error('gone'));
    await refused;
    await expect.poll(() => host.manager.counts.waiting).toBe(0);
    expect(host.provider.faults.counts.restore).toBe(1);
  });
});

describe('a host whose clock jumps', () => {
  it.each([-400, 400])('by %i days keeps its machines and leases: those go by the database', async (days) => {
    let shift = 0;
    const clock = { ...systemClock, now: () => systemClock.now() + shift };
    const [one, two] = [await harness.addHost({ clock }), await harness.addHost()];
    const userId = await harness.addUser();
    const taskId = newId();
    const { sandboxId } = await one.acquire(userId, { taskId });
    shift = days * 86_400_000;
    await one.manager.beat();
    expect((await run(one, sandboxId, taskId, 'true')).exitCode).toBe(0);
    await expect(two.acquire(userId)).rejects.toMatchObject({ code: 'sandbox.elsewhere' });
    expect(await one.acquire(userId)).toMatchObject({ from: 'session', sandboxId });
    expect(one.ends).toEqual([]);
  });

  it('while a machine starts tells no impossible time of it', async () => {
    let shift = 0;
    const clock = { ...systemClock, now: () => systemClock.now() + shift };
    const host = await harness.addHost({ clock });
    const userId = await harness.addUser();
    const held = host.provider.faults.holdNext('restore');
    const coming = host.acquire(userId);
    await held.entered;
    shift = -400 * 86_400_000;
    held.release();
    expect((await coming).acquireTimeMs).toBeGreaterThanOrEqual(0);
    expect((await harness.machine(userId))['acquire_ms']).toBeGreaterThanOrEqual(0);
  });
});

describe('a session older than it may be', () => {
  it('is suspended and restored between two calls, and its claims stay', async () => {
    const host = await harness.addHost({ policy: { hardLifetimeMs: 60_000 } });
    const userId = await harness.addUser();
    const taskId = newId();
    const { sandboxId } = await host.acquire(userId, { taskId });
    await run(host, sandboxId, taskId, 'remember it');
    const stop = new AbortController();
    const hanging = host.manager
      .guest(sandboxId, { taskId, fence: 1 })
      .exec({ command: 'hang', timeoutMs: 60_000, signal: stop.signal })
      .catch(() => undefined);
    await harness.query("update vitto_vm_sessions set started_at = now() - interval '1 hour' where id = $1", [
      sandboxId,
    ]);
    await host.manager.beat();
    expect(host.provider.faults.counts.suspend).toBe(0);
    stop.abort(new Error('enough'));
    await hanging;
    await expect.poll(() => host.provider.faults.counts.restore).toBe(2);
    expect((await run(host, sandboxId, taskId, 'recall')).stdout.text).toBe('it\n');
    expect(host.ends).toEqual([]);
    expect(await harness.machine(userId)).toMatchObject({ state: 'running', origin: 'user-snapshot' });
    expect(host.manager.counts.running).toBe(1);
  });

  it('that does not come back ends its claims', async () => {
    const host = await harness.addHost({ policy: { hardLifetimeMs: 60_000 } });
    const userId = await harness.addUser();
    const taskId = newId();
    const { sandboxId } = await host.acquire(userId, { taskId });
    host.provider.faults.failNext('restore');
    host.provider.faults.failNext('create');
    await harness.query("update vitto_vm_sessions set started_at = now() - interval '1 hour' where id = $1", [
      sandboxId,
    ]);
    await host.manager.beat();
    await expect.poll(() => host.ends).toMatchObject([{ taskId, how: 'lost' }]);
    await expect.poll(() => host.manager.counts.running).toBe(0);
    await expect
      .poll(
        async () =>
          (await harness.query('select 1 from vitto_vm_claims where session_id = $1', [sandboxId])).length,
      )
      .toBe(0);
    expect((await host.acquire(userId)).sandboxId).toBe(sandboxId);
  });
});

describe('two hosts on one database', () => {
  it('give one user one machine, and say where it is', async () => {
    const [one, two] = [await harness.addHost(), await harness.addHost()];
    const userId = await harness.addUser();
    const both = await Promise.allSettled([one.acquire(userId), two.acquire(userId)]);
    expect(both.map((came) => came.status).sort()).toEqual(['fulfilled', 'rejected']);
    const [refused] = both.flatMap((came) => (came.status === 'rejected' ? [came.reason as unknown] : []));
    const other = both[0]?.status === 'fulfilled' ? one : two;
    expect(refused).toMatchObject({ code: 'sandbox.elsewhere', details: { hostId: other.manager.hostId } });
    expect(one.hardware.vms.size + two.hardware.vms.size).toBe(1);
  });

  it('give twenty tasks of a user that come to both at the same time one machine', async () => {
    const [one, two] = [await harness.addHost(), await harness.addHost()];
    const userId = await harness.addUser();
    const both = await Promise.allSettled(
      Array.from({ length: 20 }, (_, n) => (n % 2 === 0 ? one : two).acquire(userId)),
    );
    const got = both.flatMap((came) => (came.status === 'fulfilled' ? [came.value.sandboxId] : []));
    const codes = both.flatMap((came) =>
      came.status === 'rejected' ? [(came.reason as { code: string }).code] : [],
    );
    expect([got.length, new Set(got).size, new Set(codes)]).toEqual([10, 1, new Set(['sandbox.elsewhere'])]);
    expect(one.hardware.vms.size + two.hardware.vms.size).toBe(1);
  });

  it('lose no task when one dies: the other makes a new machine, and the first keeps the disk for a while', async () => {
    const [one, two] = [await harness.addHost(), await harness.addHost()];
    const userId = await harness.addUser();
    const before = await one.acquire(userId);
    one.manager.standBack();
    await harness.query(
      "update vitto_sandbox_hosts set heartbeat_at = now() - interval '1 hour' where id = $1",
      [one.manager.hostId],
    );
    await expect(two.acquire(userId)).rejects.toMatchObject({ code: 'sandbox.elsewhere' });
    await harness.query(
      "update vitto_vm_sessions set lease_until = now() - interval '1 hour' where id = $1",
      [before.sandboxId],
    );
    const after = await two.acquire(userId);
    expect(after.from).toBe('base-snapshot');
    expect(after.notices.join()).toContain('cannot be reached');
    await one.restart();
    expect([one.hardware.vms.size, one.hardware.machines.size]).toEqual([0, 1]);
    await expect(one.acquire(userId)).rejects.toMatchObject({ code: 'sandbox.elsewhere' });
    await one.manager.forget(before.sandboxId, userId);
    expect(one.hardware.machines.size).toBe(0);
    expect((await two.acquire(userId)).sandboxId).toBe(after.sandboxId);
  });
});

describe('two hundred acquires and releases', () => {
  it('leave no VM, no claim, no row but the machine’s, no folder and no timer', async () => {
    const host = await harness.addHost({ policy: { lingerMs: 0 }, maxConcurrent: 2 });
    const users = await Promise.all([1, 2, 3, 4].map(() => harness.addUser()));
    const [sessions, claims] = [await rows('vitto_vm_sessions'), await rows('vitto_vm_claims')];
    const cycle = async (userId: string) => {
      for (let n = 0; n < 50; n += 1) {
        const taskId = newId();
        const { sandboxId } = await host.acquire(userId, { taskId });
        await host.release(sandboxId, taskId, { isBroken: n % 10 === 9 });
      }
    };
    await Promise.all(users.map(cycle));
    await expect.poll(() => host.hardware.vms.size).toBe(0);
    await expect.poll(() => host.manager.counts).toMatchObject({ running: 0, waiting: 0 });
    expect(await rows('vitto_vm_claims')).toBe(claims);
    expect(await rows('vitto_vm_sessions')).toBe(sessions + users.length);
    for (const { id, userId } of await host.manager.list()) await host.manager.forget(id, userId);
    expect(await rows('vitto_vm_sessions')).toBe(sessions);
    expect(host.hardware.machines.size).toBe(0);
    expect(await readdir(join(host.folder, 'machines'))).toEqual([]);
  });
});
