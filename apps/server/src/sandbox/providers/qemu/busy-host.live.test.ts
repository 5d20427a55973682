import { randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AgentConnection } from '../../guest/agent/agent-connection.ts';
import { AgentGuestSession } from '../../guest/agent/agent-guest-session.ts';
import { makeGuestIdentity } from '../../sessions/session-agent.ts';
import type { Vm, VmSpec } from '../sandbox-provider.ts';
import type { QemuProvider } from './qemu-provider.ts';
import { hasImage, openQemu, type QemuUnderTest } from './testing-qemu.ts';

const ROUNDS = 20;

let qemu: QemuUnderTest;
let provider: QemuProvider;

beforeAll(async () => {
  qemu = await openQemu();
  provider = qemu.open();
});
afterAll(() => qemu.close());

function specOf(machine: string, userNumber: number): VmSpec {
  const machineFolder = join(qemu.root, 'machines', machine);
  const size = { memoryMib: 512, cpus: 2, diskGib: 4 };
  return { vmId: randomUUID(), machineFolder, image: qemu.image, ...size, userNumber };
}

/** A connection as each start and each restore makes it. */
async function come(vm: Vm): Promise<{ guest: AgentGuestSession; machineId: string; close: () => void }> {
  const connection = await AgentConnection.open(await vm.connectAgent());
  const identity = makeGuestIdentity();
  await connection.resume({ ...identity, authorizedKeys: '' });
  const guest = new AgentGuestSession(connection, { id: vm.id, taskId: 'task' });
  return { guest, machineId: identity.machineId, close: () => connection.close() };
}

/** Takes all of the host's processors, and the disk. */
async function keepBusy(machine: string, userNumber: number): Promise<void> {
  const { guest } = await come(await provider.create(specOf(machine, userNumber)));
  for (let each = 0; each < 4; each += 1) await guest.startProcess({ command: 'while :; do :; done' });
  const write = 'dd if=/dev/zero of=$HOME/filler bs=64k count=64 conv=fsync 2>/dev/null';
  await guest.startProcess({ command: `while :; do ${write}; done` });
}

describe.skipIf(!hasImage)('while another VM keeps the host busy', () => {
  it('a guest is come to again and again, each time with its clock, randomness and identity', async () => {
    const vm = await provider.create(specOf('quiet', 1));
    const first = await come(vm);
    const { processId } = await first.guest.startProcess({ command: 'echo up; sleep 600' });
    first.close();
    await keepBusy('busy', 2);
    const random = new Set<string>();
    for (let round = 0; round < ROUNDS; round += 1) {
      const { guest, machineId, close } = await come(vm);
      const { stdout } = await guest.exec({
        command: 'cat /etc/machine-id /proc/sys/kernel/random/uuid',
        timeoutMs: 60_000,
      });
      const [told, uuid = ''] = stdout.text.split('\n');
      expect(told).toBe(machineId);
      random.add(uuid);
      expect(await guest.readProcess({ processId })).toMatchObject({ running: true, text: 'up\n' });
      // Every other time its host goes away in the middle of a message.
      if (round % 2 === 1) (await vm.connectAgent()).write(randomBytes(7));
      close();
    }
    expect(random.size).toBe(ROUNDS);
  });

  it('is restored, not booted: with what it held in memory, time after time', async () => {
    await keepBusy('busier', 3);
    let spec = specOf('restored', 4);
    let vm: Vm = await provider.create(spec);
    for (let round = 0; round < 3; round += 1) {
      const { guest, close } = await come(vm);
      const { stdout } = await guest.exec({
        command: `echo ${round} >>/dev/shm/rounds; cat /dev/shm/rounds`,
        timeoutMs: 60_000,
      });
      expect(stdout.text.trim().split('\n')).toHaveLength(round + 1);
      close();
      await provider.suspend(vm);
      spec = { ...spec, vmId: randomUUID() };
      vm = await provider.restore(spec, 'machine');
    }
  });
});
