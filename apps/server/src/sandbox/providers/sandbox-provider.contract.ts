import { randomBytes, randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { AgentConnection } from '../guest/agent/agent-connection.ts';
import { CommandRun } from '../guest/agent/guest-command.ts';
import type { SandboxProvider, Vm, VmImage, VmSpec } from './sandbox-provider.ts';

/** What a provider's test hands in. */
export interface ProviderUnderTest {
  provider: SandboxProvider;
  /** The host's process started again: another provider over the same hardware. */
  restart: () => SandboxProvider;
  image: VmImage;
  /** Folder of machines; the test's own. */
  machines: string;
  /** Kills the VM as the kernel would. */
  kill: (vm: Vm) => void;
  /** Commands for the guest's shell that keep a word in memory, not on the disk, and say it. */
  remember: (word: string) => string;
  recall: string;
  write: (word: string, path: string) => string;
}

/** What every provider of VMs must do, whatever it makes them with. */
export function describeSandboxProvider(name: string, open: () => Promise<ProviderUnderTest>): void {
  describe(`${name} as a provider of VMs`, () => {
    let under: ProviderUnderTest;
    let provider: SandboxProvider;
    beforeAll(async () => {
      under = await open();
      ({ provider } = under);
    });
    afterEach(async () => {
      for (const { vmId } of await provider.list()) await provider.destroy(vmId);
      for (const machine of machines.splice(0)) await provider.forget(machine);
    });

    const machines: string[] = [];
    const specOf = (machine: string, userNumber = 1): VmSpec => {
      const machineFolder = `${under.machines}/${machine}`;
      machines.push(machineFolder);
      const size = { memoryMib: 512, cpus: 2, diskGib: 4 };
      return { vmId: randomUUID(), machineFolder, image: under.image, ...size, userNumber };
    };
    const next = (spec: VmSpec): VmSpec => ({ ...spec, vmId: randomUUID() });
    const codeOf = (work: Promise<unknown>): Promise<string> =>
      work.then(
        () => 'no error',
        (error: { code: string }) => error.code,
      );

    it('can be had', async () => {
      expect(await provider.health()).toMatchObject({ available: true, reason: null });
    });

    it('boots an image, ends the VM when told, and keeps the disk', async () => {
      const spec = specOf('boots');
      const vm = await provider.create(spec);
      expect(vm.stages.length).toBeGreaterThan(0);
      expect(await vm.memoryBytes()).toBeGreaterThan(0);
      expect(await provider.list()).toEqual([{ vmId: spec.vmId, isRunning: true }]);
      expect(await provider.imageHashOf(spec.machineFolder)).toBe(under.image.hash);
      await runIn(vm, under.write('kept', '/home/user/word'), under.remember('lost'));

      await provider.destroy(spec.vmId);
      expect(await vm.ended).toEqual({ reason: expect.any(String) as string });
      await provider.destroy(spec.vmId);
      expect(await provider.list()).toEqual([]);

      const again = await provider.create(next(spec));
      const [word, recalled = ''] = await runIn(again, 'cat /home/user/word', under.recall);
      expect([word, recalled.trim()]).toEqual(['kept\n', '']);
    });

    it('goes on from a snapshot with memory and disk as they were, and keeps it until the next', async () => {
      const spec = specOf('snapshot');
      expect(await provider.readSnapshot(spec)).toBeNull();
      expect(await codeOf(provider.restore(spec, 'machine'))).toBe('snapshot-unusable');
      const vm = await provider.create(spec);
      await runIn(vm, under.write('one', '/home/user/word'), under.remember('first'));
      const snapshot = await provider.suspend(vm);
      expect(snapshot).toMatchObject({ isUsable: true, reason: null });
      expect(await provider.list()).toEqual([]);
      expect((await provider.measure(spec.machineFolder)).snapshotBytes).toBeGreaterThan(0);

      const restored = await provider.restore(next(spec), 'machine');
      expect(await runIn(restored, 'cat /home/user/word', under.recall)).toEqual(['one\n', 'first\n']);
      await runIn(restored, under.write('two', '/home/user/word'), under.remember('second'));
      expect(await provider.readSnapshot(spec)).toEqual(snapshot);
      // Ended without a snapshot: the older one and the newer disk are both there.
      await provider.destroy(restored.id);

      const booted = await provider.create(next(spec));
      expect(await runIn(booted, 'cat /home/user/word')).toEqual(['two\n']);
      await provider.destroy(booted.id);
      const older = await provider.restore(next(spec), 'machine');
      expect(await runIn(older, 'cat /home/user/word', under.recall)).toEqual(['one\n', 'first\n']);
      expect((await provider.suspend(older)).id).not.toBe(snapshot.id);
    });

    it("starts machines from the image's snapshot, each with a disk and a memory of its own", async () => {
      const [one, two] = [specOf('base-one', 1), specOf('base-two', 2)];
      await provider.makeBaseSnapshot(specOf('base'));
      await provider.makeBaseSnapshot(specOf('base'));
      expect(await provider.hasBaseSnapshot(one)).toBe(true);
      expect(await provider.list()).toEqual([]);
      const [first, second] = await Promise.all([
        provider.restore(one, 'base'),
        provider.restore(two, 'base'),
      ]);
      await runIn(first, under.write('mine', '/home/user/word'), under.remember('mine'));
      const inSecond = await runIn(second, 'cat /home/user/word', under.recall);
      expect(inSecond.join('')).not.toContain('mine');
      expect(await codeOf(provider.restore(next(one), 'base'))).not.toBe('no error');
      await provider.destroy(first.id);
      // A machine with a disk is not given another.
      expect(await codeOf(provider.restore(next(one), 'base'))).toBe('snapshot-unusable');
      expect(await runIn(await provider.create(next(one)), 'cat /home/user/word')).toEqual(['mine\n']);
    });

    it('starts no disk over another image than its own', async () => {
      const spec = specOf('image');
      await provider.destroy((await provider.create(spec)).id);
      const other = { ...next(spec), image: { ...under.image, hash: 'f'.repeat(64) } };
      expect(await codeOf(provider.create(other))).toBe('image-missing');
      await provider.destroy((await provider.create(next(spec))).id);
    });

    it('is taken over by the host that comes after, with all that runs in it', async () => {
      const spec = specOf('adopted');
      const vm = await provider.create(spec);
      await runIn(vm, under.remember('kept'));
      const successor = under.restart();
      expect(await successor.list()).toEqual([{ vmId: spec.vmId, isRunning: true }]);
      const adopted = await successor.adopt(spec);
      if (adopted === null) throw new Error('it was not taken over');
      expect(await runIn(adopted, under.recall)).toEqual(['kept\n']);
      // The next one may come before the one of before has noticed.
      const last = under.restart();
      const adopting = last.adopt(spec);
      successor.letGo(spec.vmId);
      const again = await adopting;
      if (again === null) throw new Error('it was not taken over again');
      expect(await runIn(again, under.recall)).toEqual(['kept\n']);
      await last.suspend(again);
      await adopted.ended;
      expect(await successor.adopt(spec)).toBeNull();
      const restored = await successor.restore(next(spec), 'machine');
      expect(await runIn(restored, under.recall)).toEqual(['kept\n']);
    });

    it('says when a VM ends by itself, and boots its disk again', async () => {
      const spec = specOf('dies');
      const vm = await provider.create(spec);
      await runIn(vm, under.write('kept', '/home/user/word'));
      under.kill(vm);
      await vm.ended;
      expect(await provider.adopt(spec)).toBeNull();
      expect(await codeOf(provider.suspend(vm))).toBe('snapshot-failed');
      await provider.destroy(spec.vmId);
      expect(await runIn(await provider.create(next(spec)), 'cat /home/user/word')).toEqual(['kept\n']);
    });

    it('forgets a machine', async () => {
      const spec = specOf('forgotten');
      await provider.destroy((await provider.create(spec)).id);
      await provider.forget(spec.machineFolder);
      await provider.forget(spec.machineFolder);
      expect(await provider.imageHashOf(spec.machineFolder)).toBeNull();
      expect(await provider.measure(spec.machineFolder)).toEqual({ diskBytes: 0, snapshotBytes: 0 });
    });
  });
}

/** Runs shell lines in a VM's guest, one after the other, and puts its disk in order; what each printed to stdout. */
export async function runIn(vm: Vm, ...lines: string[]): Promise<string[]> {
  const connection = await AgentConnection.open(await vm.connectAgent(), { limitMs: 60_000 });
  try {
    await connection.resume({
      entropy: randomBytes(64),
      machineId: 'a'.repeat(32),
      hostKey: '',
      authorizedKeys: '',
    });
    const printed: string[] = [];
    for (const line of lines) {
      let text = '';
      const argv = ['/bin/sh', '-c', line];
      const command = { flags: 0, record: '', cwd: Buffer.from('/'), argv, env: [], timeoutMs: 60_000 };
      const run = new CommandRun(connection, command, async (stream, bytes) => {
        if (stream === 'stdout') text += bytes.toString();
      });
      await run.wait();
      printed.push(text);
    }
    await connection.sync();
    return printed;
  } finally {
    connection.close();
  }
}
