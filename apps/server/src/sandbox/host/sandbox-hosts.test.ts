import { describe, expect, it } from 'vitest';
import { AppError } from '../../kernel/app-error.ts';
import { newId } from '../../kernel/ids.ts';
import { createLogger } from '../../kernel/logger.ts';
import { SandboxHosts } from './sandbox-hosts.ts';
import { FakeSandboxHost } from './testing-fake-host.ts';

const logger = createLogger({ level: 'silent' });
const image = {
  name: 'minimal',
  hash: 'h',
  bytes: 1,
  builtAt: null,
  hasBaseSnapshot: true,
  progress: null,
  problem: null,
};
const wanted = (userId = newId()) => ({
  taskId: newId(),
  userId,
  template: 'minimal',
  fence: 1,
  network: { packageRegistries: true, hosts: [] },
});

function twoHosts() {
  const [one, two] = [new FakeSandboxHost('one'), new FakeSandboxHost('two')];
  for (const host of [one, two]) host.info_ = { images: [{ ...image, state: 'ready' }] };
  const hosts = new SandboxHosts({ hosts: [one, two], logger, takeOverMs: 200, takeOverPollMs: 1 });
  return { one, two, hosts };
}
const breakDown = (host: FakeSandboxHost) => {
  const gone = () =>
    Promise.reject(new AppError('sandbox.unreachable', `${host.id} is gone`, { status: 503 }));
  host.info = gone;
  host.list = gone;
  host.acquire = gone;
};

describe('the hosts of a server', () => {
  it('give a new session to the one with room, the image and VMs', async () => {
    const { one, two, hosts } = twoHosts();
    one.info_ = { ...one.info_, running: 3 };
    expect((await hosts.acquire(wanted())).name).toBe('two');
    two.info_ = { images: [{ ...image, state: 'building' }] };
    const later = new SandboxHosts({ hosts: [two, one], logger });
    expect((await later.acquire(wanted())).name).toBe('one');
    one.info_ = { ...one.info_, reason: 'no QEMU here' };
    expect((await new SandboxHosts({ hosts: [one, two], logger }).acquire(wanted())).name).toBe('two');
  });

  it('give a user the host where the machine is, however busy', async () => {
    const { one, two, hosts } = twoHosts();
    const request = wanted();
    await one.acquire(request);
    one.info_ = { ...one.info_, running: 4 };
    expect((await hosts.acquire(request)).name).toBe('one');
    expect((await hosts.find((await one.list())[0]?.id ?? '', request.userId)).host).toBe(one);
    expect(two.calls).toEqual([]);
  });

  it('follow where they are told that a machine is', async () => {
    const { one, two, hosts } = twoHosts();
    one.beforeAcquire = () => {
      throw new AppError('sandbox.elsewhere', 'It is on two.', { details: { hostId: 'two' } });
    };
    two.info_ = { ...two.info_, running: 4 };
    expect((await hosts.acquire(wanted())).name).toBe('two');
  });

  it('pass one over that does not answer, say so, and show it as away', async () => {
    const { one, two, hosts } = twoHosts();
    two.info_ = { ...two.info_, running: 2 };
    await hosts.infos();
    breakDown(one);
    const { name, sandbox } = await hosts.acquire(wanted());
    expect(name).toBe('two');
    expect(sandbox.notices).toEqual(['The sandbox host one does not answer.']);
    const { hosts: shown, sandboxes } = await hosts.overview();
    expect(shown.map(({ id, isReachable }) => [id, isReachable])).toEqual([
      ['one', false],
      ['two', true],
    ]);
    expect(sandboxes).toHaveLength(1);
    await expect(hosts.find(newId(), newId())).rejects.toMatchObject({ code: 'sandbox.unreachable' });
  });

  it('wait until another may take over what was on a host that is away, and tell the task so', async () => {
    const { one, two, hosts } = twoHosts();
    breakDown(one);
    let refusals = 3;
    two.beforeAcquire = () => {
      refusals -= 1;
      if (refusals >= 0)
        throw new AppError('sandbox.elsewhere', 'It is on one.', { details: { hostId: 'one' } });
    };
    const told: string[] = [];
    const { name } = await hosts.acquire({ ...wanted(), onWaiting: ({ reason }) => told.push(reason) });
    expect([name, told.length]).toEqual(['two', 3]);
    refusals = Number.POSITIVE_INFINITY;
    await expect(hosts.acquire(wanted())).rejects.toMatchObject({ code: 'sandbox.elsewhere' });
    await expect(
      hosts.acquire({ ...wanted(), signal: AbortSignal.abort(new Error('enough')) }),
    ).rejects.toThrow();
  });

  it('are none, or none that answers: each is said with what to do', async () => {
    const none = new SandboxHosts({ hosts: [], logger });
    await expect(none.acquire(wanted())).rejects.toMatchObject({ code: 'sandbox.unavailable' });
    expect(await none.overview()).toEqual({ hosts: [], sandboxes: [] });
    const { one, two, hosts } = twoHosts();
    for (const host of [one, two]) breakDown(host);
    await expect(hosts.acquire(wanted())).rejects.toMatchObject({ code: 'sandbox.unreachable' });
  });
});
