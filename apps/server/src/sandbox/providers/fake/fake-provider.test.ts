import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { describeSandboxProvider } from '../sandbox-provider.contract.ts';
import type { VmSpec } from '../sandbox-provider.ts';
import { FakeHardware, FakeProvider } from './fake-provider.ts';

const image = { name: 'fake', hash: 'a'.repeat(64), folder: '/nowhere' };

describeSandboxProvider('the fake', async () => {
  const hardware = new FakeHardware();
  const provider = new FakeProvider({ hardware });
  return {
    provider,
    restart: () => new FakeProvider({ hardware }),
    image,
    machines: '/machines',
    kill: (vm) => provider.kill(vm.id),
    remember: (word) => `remember ${word}`,
    recall: 'recall',
    write: (word, path) => `write ${path} ${word}`,
  };
});

describe('faults of the fake provider', () => {
  const spec = (): VmSpec => ({
    vmId: randomUUID(),
    machineFolder: `/machines/${randomUUID()}`,
    image,
    memoryMib: 512,
    cpus: 2,
    diskGib: 4,
    userNumber: 1,
  });

  it('come once, in the order in which they were asked for', async () => {
    const provider = new FakeProvider();
    provider.faults.failNext('create');
    provider.faults.failNext('create', new Error('of mine'));
    await expect(provider.create(spec())).rejects.toMatchObject({ code: 'start-failed' });
    await expect(provider.create(spec())).rejects.toThrow('of mine');
    await provider.create(spec());
    expect(provider.faults.counts.create).toBe(3);
  });

  it('hold a call until it is let go', async () => {
    const provider = new FakeProvider();
    const hold = provider.faults.holdNext('create');
    const creating = provider.create(spec());
    await hold.entered;
    expect(await provider.list()).toEqual([]);
    hold.release();
    const vm = await creating;
    expect(await provider.list()).toEqual([{ vmId: vm.id, isRunning: true }]);
  });

  it('refuse a damaged snapshot and a second VM of a machine', async () => {
    const provider = new FakeProvider();
    const one = spec();
    const vm = await provider.create(one);
    await expect(provider.create({ ...one, vmId: randomUUID() })).rejects.toThrow('two VMs of one machine');
    await provider.suspend(vm);
    provider.damageSnapshot(one.machineFolder);
    expect(await provider.readSnapshot(one)).toMatchObject({ isUsable: false });
    await expect(provider.restore(one, 'machine')).rejects.toMatchObject({ code: 'snapshot-unusable' });
  });
});
