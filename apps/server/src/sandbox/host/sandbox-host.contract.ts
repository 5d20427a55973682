import type { SandboxWaiting } from '@vitto/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../kernel/ids.ts';
import type { AcquireRequest, SandboxHost } from './sandbox-host.ts';

/** A host with room for one VM at a time and the image `minimal`, whose guests know `echo`, `cat`, `hang` and `false`. */
export interface HostUnderTest {
  open: () => Promise<SandboxHost>;
  addUser: () => Promise<string>;
  close: () => Promise<void>;
}

/** What every sandbox host must do, in this process or on another machine. */
export function describeSandboxHost(name: string, underTest: HostUnderTest): void {
  describe(`${name} as a sandbox host`, () => {
    let host: SandboxHost;
    beforeAll(async () => {
      host = await underTest.open();
    });
    afterAll(() => underTest.close());

    const acquire = (userId: string, request: Partial<AcquireRequest> = {}) =>
      host.acquire({
        taskId: newId(),
        userId,
        template: 'minimal',
        fence: 1,
        network: { packageRegistries: false, hosts: [] },
        ...request,
      });
    const codeOf = (work: Promise<unknown>) =>
      work.then(
        () => 'no error',
        (error: { code?: string }) => error.code,
      );

    it('says what it is', async () => {
      expect(await host.info()).toMatchObject({
        isReachable: true,
        provider: 'fake',
        accelerator: 'tcg',
        reason: null,
        maxConcurrent: 1,
        images: [{ name: 'minimal', state: 'ready' }],
      });
    });

    it('gives a user one session, the same for the same claim, and runs commands in it', async () => {
      const userId = await underTest.addUser();
      const taskId = newId();
      const first = await acquire(userId, { taskId });
      const again = await acquire(userId, { taskId });
      const other = await acquire(userId);
      expect([again.sandboxId, other.sandboxId]).toEqual([first.sandboxId, first.sandboxId]);
      expect(again.from).toBe('session');
      const guest = host.guest(first.sandboxId, { taskId, fence: 1 });
      const spooled: string[] = [];
      const result = await guest.exec({
        command: 'echo hello',
        timeoutMs: 5_000,
        callId: 'call-1',
        spool: async (stream, bytes) => void spooled.push(`${stream}:${Buffer.from(bytes).toString()}`),
      });
      expect(result).toMatchObject({ exitCode: 0, timedOut: false, stdout: { text: 'hello\n' } });
      expect(spooled).toEqual(['stdout:hello\n']);
      expect(await guest.exec({ command: 'false', timeoutMs: 5_000 })).toMatchObject({ exitCode: 1 });
      expect(await guest.readCommand({ callId: 'call-1' })).toMatchObject({ state: 'ended', exitCode: 0 });
      const [seen] = await host.list(userId);
      expect(seen).toMatchObject({ id: first.sandboxId, userId, state: 'running' });
      expect(seen?.claims).toHaveLength(2);
      await host.destroy(first.sandboxId, userId);
    });

    it('ends a command whose caller gives it up', async () => {
      const userId = await underTest.addUser();
      const taskId = newId();
      const { sandboxId } = await acquire(userId, { taskId });
      const giveUp = new AbortController();
      const running = host
        .guest(sandboxId, { taskId, fence: 1 })
        .exec({ command: 'hang', timeoutMs: 60_000, signal: giveUp.signal });
      running.catch(() => undefined);
      const commands = async () => (await host.list(userId)).flatMap((one) => one.commands);
      await expect.poll(commands).toMatchObject([{ taskId, command: 'hang' }]);
      giveUp.abort(new Error('no longer wanted'));
      await expect(running).rejects.toThrow();
      await expect.poll(commands).toEqual([]);
      await host.destroy(sandboxId, userId);
    });

    it('refuses calls of who has no claim and of an earlier owner, and other users as if there were nothing', async () => {
      const userId = await underTest.addUser();
      const taskId = newId();
      const { sandboxId } = await acquire(userId, { taskId, fence: 5 });
      const call = (caller: { taskId: string; fence: number }) =>
        codeOf(host.guest(sandboxId, caller).exec({ command: 'echo x', timeoutMs: 5_000 }));
      expect(await call({ taskId: newId(), fence: 9 })).toBe('session-lost');
      expect(await call({ taskId, fence: 4 })).toBe('sandbox.stale-fence');
      expect(await codeOf(acquire(userId, { taskId, fence: 4 }))).toBe('sandbox.stale-fence');
      expect(await codeOf(host.release(sandboxId, { taskId, fence: 4 }))).toBe('sandbox.stale-fence');
      const stranger = await underTest.addUser();
      expect(await host.list(stranger)).toEqual([]);
      expect(await host.userSandbox(stranger)).toMatchObject({ exists: false });
      expect(await codeOf(host.snapshot(sandboxId, stranger))).toBe('sandbox.not-found');
      const publicKey = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGh5cG90aGV0aWNhbGtleW9mbm9ib2R5YXRhbGwxMjM0';
      expect(await codeOf(host.openSsh(sandboxId, { userId: stranger, publicKey }))).toBe(
        'sandbox.not-found',
      );
      await host.destroy(sandboxId, stranger);
      await host.forget(sandboxId, stranger);
      expect(await call({ taskId, fence: 5 })).toBe('no error');
      await host.destroy(sandboxId, userId);
    });

    it('snapshots and suspends, restores, and forgets', async () => {
      const userId = await underTest.addUser();
      const { sandboxId } = await acquire(userId);
      await host.snapshot(sandboxId, userId);
      expect(await host.userSandbox(userId)).toMatchObject({
        exists: true,
        state: 'suspended',
        template: 'minimal',
      });
      expect(await acquire(userId)).toMatchObject({ sandboxId, restored: true, from: 'user-snapshot' });
      await host.forget(sandboxId, userId);
      await host.forget(sandboxId, userId);
      expect(await host.userSandbox(userId)).toMatchObject({ exists: false });
    });

    it('has those wait who come when all is taken, tells them their place, and lets who gives up go', async () => {
      const [one, two] = [await underTest.addUser(), await underTest.addUser()];
      const first = await acquire(one);
      const told: SandboxWaiting[] = [];
      const second = acquire(two, { onWaiting: (waiting) => told.push(waiting) });
      await expect.poll(() => told.map(({ place }) => place)).toEqual([1]);
      const giveUp = new AbortController();
      const third = acquire(await underTest.addUser(), {
        signal: giveUp.signal,
        onWaiting: () => giveUp.abort(new Error('no longer')),
      });
      await expect(third).rejects.toThrow();
      await host.destroy(first.sandboxId, one);
      const { sandboxId } = await second;
      await host.destroy(sandboxId, two);
    });

    it('says what cannot be had', async () => {
      const userId = await underTest.addUser();
      expect(await codeOf(acquire(userId, { template: 'unknown' }))).toBe('sandbox.image-missing');
      expect(await codeOf(host.buildImage('unknown'))).toBe('sandbox.no-such-template');
    });
  });
}
