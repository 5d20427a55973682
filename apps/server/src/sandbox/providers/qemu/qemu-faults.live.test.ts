import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, open, readdir, readFile, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { runIn } from '../sandbox-provider.contract.ts';
import type { Vm, VmSpec } from '../sandbox-provider.ts';
import { identify } from './process-identity.ts';
import type { QemuProvider } from './qemu-provider.ts';
import { hasImage, linkImage, openQemu, type QemuUnderTest } from './testing-qemu.ts';

const HOST = fileURLToPath(new URL('./testing-host.ts', import.meta.url));

let qemu: QemuUnderTest;
let provider: QemuProvider;
const hosts: ChildProcess[] = [];

beforeAll(async () => {
  qemu = await openQemu();
  provider = qemu.open();
  await provider.health();
});
afterEach(async () => {
  for (const host of hosts.splice(0)) host.kill('SIGKILL');
  for (const { vmId } of await provider.list()) await provider.destroy(vmId);
});
afterAll(() => qemu.close());

const next = (spec: VmSpec): VmSpec => ({ ...spec, vmId: randomUUID() });
function specOf(machine: string): VmSpec {
  const machineFolder = join(qemu.root, 'machines', machine);
  const size = { memoryMib: 512, cpus: 2, diskGib: 4 };
  return { vmId: randomUUID(), machineFolder, image: qemu.image, ...size, userNumber: 5 };
}
const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'no error',
    (error: { code: string }) => error.code,
  );

/** A machine with a snapshot in which `word` is remembered. */
async function suspended(machine: string, word: string): Promise<VmSpec> {
  const spec = specOf(machine);
  const vm = await provider.create(spec);
  await runIn(vm, `echo ${word} >/dev/shm/word; echo ${word} >/home/user/word`);
  await provider.suspend(vm);
  return next(spec);
}
const remembered = async (vm: Vm): Promise<string> => (await runIn(vm, 'cat /dev/shm/word'))[0] ?? '';
const written = async (vm: Vm): Promise<string> => (await runIn(vm, 'cat /home/user/word'))[0] ?? '';

/** Starts a host of its own process and kills it as soon as `isThere`, or once it has done all. */
async function killHost(spec: VmSpec, action: string, isThere: () => Promise<boolean>): Promise<void> {
  const host = spawn(process.execPath, [HOST, qemu.root, JSON.stringify(spec), action], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  hosts.push(host);
  const state = { isDone: false };
  host.stdout.once('data', () => (state.isDone = true));
  while (!state.isDone && host.exitCode === null && !(await isThere())) await sleep(1);
  const ended = new Promise((resolve) => host.once('exit', resolve));
  host.kill('SIGKILL');
  await ended;
}

describe.skipIf(!hasImage)('a damaged snapshot', () => {
  it('is refused whatever part of it is damaged; nothing runs, and the disk still boots', async () => {
    const spec = await suspended('damaged', 'whole');
    const [id = ''] = await readdir(join(spec.machineFolder, 'snapshots'));
    const snapshot = join(spec.machineFolder, 'snapshots', id);
    const [disk = ''] = await readdir(join(spec.machineFolder, 'disks'));
    const files = [
      ...['ram.0', 'ram.1', 'state', 'manifest.json'].map((name) => join(snapshot, name)),
      join(spec.machineFolder, 'disks', disk),
    ];
    for (const path of files) {
      for (const damage of ['flip', 'cut'] as const) {
        const putBack = await damageFile(path, damage);
        expect([path, damage, await codeOf(provider.restore(next(spec), 'machine'))]).toEqual([
          path,
          damage,
          'snapshot-unusable',
        ]);
        expect(await provider.list()).toEqual([]);
        await putBack();
      }
    }
    const restored = await provider.restore(next(spec), 'machine');
    expect(await remembered(restored)).toBe('whole\n');
    await provider.destroy(restored.id);
    await damageFile(join(snapshot, 'ram.0'), 'flip');
    expect(await written(await provider.create(next(spec)))).toBe('whole\n');
  });
});

describe.skipIf(!hasImage)("an image's damaged snapshot", () => {
  it('is refused once and then made anew', async () => {
    const image = await linkImage(qemu.image, join(qemu.root, 'image'));
    const of = (machine: string): VmSpec => ({ ...specOf(machine), image });
    await provider.makeBaseSnapshot(of('maker'));
    const [key = ''] = await readdir(join(image.folder, 'base'));
    await damageFile(join(image.folder, 'base', key, 'state'), 'flip');
    const spec = of('from-base');
    expect(await codeOf(provider.restore(spec, 'base'))).toBe('snapshot-unusable');
    expect(await provider.imageHashOf(spec.machineFolder)).toBeNull();
    expect(await provider.hasBaseSnapshot(spec)).toBe(false);
    await provider.makeBaseSnapshot(of('maker'));
    await runIn(await provider.restore(next(spec), 'base'), 'true');
  });
});

/** Flips a bit in the middle, or cuts the last byte off. Returns what undoes it. */
async function damageFile(path: string, damage: 'flip' | 'cut'): Promise<() => Promise<void>> {
  const whole = await readFile(path);
  if (damage === 'cut') await truncate(path, whole.length - 1);
  else {
    const file = await open(path, 'r+');
    const at = Math.floor(whole.length / 2);
    await file.write(Buffer.from([(whole[at] ?? 0) ^ 4]), 0, 1, at);
    await file.close();
  }
  return async () => {
    const file = await open(path, 'r+');
    await file.write(whole, 0, whole.length, 0);
    await file.close();
  };
}

describe.skipIf(!hasImage)('a host that is killed', () => {
  it('while it boots a VM leaves nothing that is not found and ended, and a disk that boots', async () => {
    const spec = specOf('booting');
    await killHost(spec, 'boot', async () => (await provider.list()).some(({ isRunning }) => isRunning));
    // QEMU goes on without it, or has ended because its monitor was gone before it had begun.
    expect((await provider.list()).map(({ vmId }) => vmId)).toEqual([spec.vmId]);
    expect(await provider.adopt(spec)).toBeNull();
    await provider.destroy(spec.vmId);
    expect(await provider.list()).toEqual([]);
    await runIn(await provider.create(next(spec)), 'true');
  });

  it('while it boots a passing machine is the only one that has it, and leaves it to be ended with its machine', async () => {
    const spec = { ...specOf('trial'), isPassing: true as const };
    const isStarted = () =>
      readFile(join(qemu.root, 'run', spec.vmId, 'vm.json'), 'utf8').then(
        (text) => (JSON.parse(text) as { process: unknown }).process !== null,
        () => false,
      );
    let seen: unknown;
    await killHost(spec, 'boot', async () => {
      if (!(await isStarted())) return false;
      seen = await provider.list();
      return true;
    });
    expect(seen).toEqual([]);
    expect((await provider.list()).map(({ vmId }) => vmId)).toEqual([spec.vmId]);
    await provider.destroy(spec.vmId);
    expect(existsSync(spec.machineFolder)).toBe(false);
  });

  it('while it takes a snapshot leaves the older one, and the VM goes on or its disk boots', async () => {
    const spec = await suspended('suspending', 'older');
    const vm = await provider.restore(spec, 'machine');
    await runIn(vm, 'echo newer >/dev/shm/word; echo newer >/home/user/word');
    const snapshots = join(spec.machineFolder, 'snapshots');
    await killHost(spec, 'suspend', async () =>
      (await readdir(snapshots)).some((name) => name.endsWith('.draft')),
    );
    const successor = qemu.open();
    const adopted = await successor.adopt(spec);
    if (adopted !== null) expect(await remembered(adopted)).toBe('newer\n');
    await successor.destroy(spec.vmId);
    expect(await written(await successor.create(next(spec)))).toBe('newer\n');
    for (const { vmId } of await successor.list()) await successor.destroy(vmId);
    expect(await remembered(await successor.restore(next(spec), 'machine'))).toMatch(/^(older|newer)\n$/);
    expect((await readdir(snapshots)).length).toBe(1);
  });

  it('while it restores a VM leaves the snapshot as it was', async () => {
    const spec = await suspended('restoring', 'kept');
    await killHost(spec, 'restore', async () => (await provider.list()).some(({ isRunning }) => isRunning));
    const successor = qemu.open();
    const adopted = await successor.adopt(spec);
    if (adopted !== null) expect(await remembered(adopted)).toBe('kept\n');
    await successor.destroy(spec.vmId);
    expect(await remembered(await successor.restore(next(spec), 'machine'))).toBe('kept\n');
  });
});

describe.skipIf(!hasImage)('what goes wrong on the host', () => {
  it('a VM that stands still is ended all the same', async () => {
    const vm = await provider.create(specOf('stopped'));
    process.kill(vm.pid ?? 0, 'SIGSTOP');
    await provider.destroy(vm.id);
    expect(existsSync(`/proc/${vm.pid}`)).toBe(false);
  });

  it('no process is ended that has the number of a VM of before', async () => {
    const innocent = spawn('sleep', ['600'], { stdio: 'ignore' });
    hosts.push(innocent);
    const identity = identify(innocent.pid ?? 0);
    for (const process of [identity, { ...identity, startTime: '1' }]) {
      const vmId = randomUUID();
      await mkdir(join(qemu.root, 'run', vmId));
      const record = { machineFolder: '/nowhere', uid: 0, process, phase: 'running' };
      await writeFile(join(qemu.root, 'run', vmId, 'vm.json'), JSON.stringify(record));
      expect(await provider.list()).toEqual([{ vmId, isRunning: false }]);
      await provider.destroy(vmId);
      expect(await provider.list()).toEqual([]);
    }
    expect(innocent.exitCode ?? innocent.signalCode).toBeNull();
  });

  it.skipIf(process.getuid?.() !== 0)(
    'a full disk costs the new snapshot, not the older one or the disk',
    async () => {
      const spec = await suspended('full', 'older');
      const vm = await provider.restore(spec, 'machine');
      await runIn(vm, 'echo newer >/home/user/word');
      const [id = ''] = await readdir(join(spec.machineFolder, 'snapshots'));
      // Only a part of the new snapshot fits beside the older one.
      const small = join(spec.machineFolder, 'snapshots');
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=20m,mode=711', 'tmpfs', small]);
      try {
        expect(await codeOf(provider.suspend(vm))).toBe('no-space');
        expect(await readdir(small)).toEqual([]);
      } finally {
        execFileSync('umount', [small]);
      }
      expect(await readdir(small)).toEqual([id]);
      expect(await provider.list()).toEqual([]);
      const booted = await provider.create(next(spec));
      expect(await written(booted)).toBe('newer\n');
      await provider.destroy(booted.id);
      expect(await remembered(await provider.restore(next(spec), 'machine'))).toBe('older\n');
    },
  );

  it('an image of which a file is missing is named', async () => {
    const folder = join(qemu.root, 'half');
    await mkdir(folder);
    await chmod(folder, 0o755);
    for (const name of ['kernel', 'initramfs'])
      await symlink(join(qemu.image.folder, name), join(folder, name));
    const spec = { ...specOf('half'), image: { ...qemu.image, folder } };
    expect(await codeOf(provider.create(spec))).toBe('image-missing');
    expect(await codeOf(provider.restore(spec, 'base'))).toBe('snapshot-unusable');
    expect(await provider.list()).toEqual([]);
  });

  it('missing programs are named, with the packages that bring them', async () => {
    const programs = { programs: {} as never, missing: ['qemu-img'], packages: ['qemu-utils'] };
    const without = qemu.open({ programs });
    expect(await without.health()).toMatchObject({
      available: false,
      reason: 'VMs need qemu-img.',
      hint: 'Install: apt-get install qemu-utils',
    });
    expect(await codeOf(without.create(specOf('none')))).toBe('unavailable');
  });
});
