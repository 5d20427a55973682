import { duplexPair, type Duplex } from 'node:stream';
import { newId } from '../../../kernel/ids.ts';
import {
  ProviderError,
  type FoundVm,
  type MachineSnapshot,
  type ProviderHealth,
  type SandboxProvider,
  type Vm,
  type VmSpec,
} from '../sandbox-provider.ts';
import { FakeAgent } from './fake-agent.ts';
import { FakeGuest, type FakeShell } from './fake-guest.ts';
import { FakeFaults } from './fake-faults.ts';

interface FakeMachine {
  imageHash: string;
  disk: FakeGuest;
  snapshot: { id: string; createdAt: Date; guest: FakeGuest; damage: string | null } | null;
}
interface FakeVm extends Vm {
  spec: VmSpec;
  guest: FakeGuest;
  isRunning: boolean;
  end(reason: string): void;
}

/** What outlives a host process: a second provider over the same one is the host started again. */
export class FakeHardware {
  readonly machines = new Map<string, FakeMachine>();
  readonly vms = new Map<string, FakeVm>();
  readonly baseSnapshots = new Map<string, FakeGuest>();
  nextPid = 100_000;
}

/**
 * VMs in this process's memory, for tests of all that stands above a provider: they start in no time, speak the
 * agent's protocol, keep disks, memory and snapshots apart as real ones do, and fail when told (`faults`).
 */
export class FakeProvider implements SandboxProvider {
  readonly name = 'fake';
  readonly hardware: FakeHardware;
  readonly faults = new FakeFaults();
  readonly #shell: FakeShell;
  unavailable: string | null = null;

  constructor(options: { hardware?: FakeHardware; shell?: FakeShell } = {}) {
    this.hardware = options.hardware ?? new FakeHardware();
    this.#shell = options.shell ?? (() => null);
  }

  async health(): Promise<ProviderHealth> {
    const available = this.unavailable === null;
    const { unavailable: reason } = this;
    return {
      available,
      accelerator: available ? 'tcg' : null,
      version: 'fake',
      reason,
      hint: null,
      notices: [],
    };
  }

  async create(spec: VmSpec): Promise<Vm> {
    await this.#enter('create', spec);
    const machine = this.#machineOf(spec);
    const guest = machine === undefined ? new FakeGuest() : machine.disk.copy('disk');
    return this.#start(spec, guest, 'boot');
  }

  async restore(spec: VmSpec, from: 'machine' | 'base'): Promise<Vm> {
    await this.#enter('restore', spec);
    const machine = this.#machineOf(spec);
    if (from === 'base' && machine !== undefined)
      throw new ProviderError('snapshot-unusable', 'The machine has a disk of its own already.');
    const guest =
      from === 'base' ? this.hardware.baseSnapshots.get(spec.image.hash) : machine?.snapshot?.guest;
    if (guest === undefined) throw new ProviderError('snapshot-unusable', 'There is no snapshot.');
    const damage = from === 'machine' ? machine?.snapshot?.damage : null;
    if (damage) throw new ProviderError('snapshot-unusable', damage);
    return this.#start(spec, guest.copy('with-memory'), 'restore');
  }

  async readSnapshot({ machineFolder }: VmSpec): Promise<MachineSnapshot | null> {
    const snapshot = this.hardware.machines.get(machineFolder)?.snapshot;
    if (!snapshot) return null;
    const { id, createdAt, guest, damage } = snapshot;
    return { id, createdAt, bytes: guest.bytes + 1, isUsable: damage === null, reason: damage };
  }

  async hasBaseSnapshot({ image }: VmSpec): Promise<boolean> {
    return this.hardware.baseSnapshots.has(image.hash);
  }

  async makeBaseSnapshot(spec: VmSpec): Promise<void> {
    await this.faults.enter('makeBaseSnapshot', 'start-failed');
    if (!(await this.hasBaseSnapshot(spec)))
      this.hardware.baseSnapshots.set(spec.image.hash, new FakeGuest());
  }

  async imageHashOf(machineFolder: string): Promise<string | null> {
    return this.hardware.machines.get(machineFolder)?.imageHash ?? null;
  }

  async suspend(vm: Vm): Promise<MachineSnapshot> {
    const fake = this.hardware.vms.get(vm.id);
    if (fake?.isRunning !== true) throw new ProviderError('snapshot-failed', 'The VM does not run.');
    const machine = this.hardware.machines.get(fake.spec.machineFolder);
    try {
      await this.faults.enter('suspend', 'snapshot-failed');
      if (!fake.isRunning || machine === undefined)
        throw new ProviderError('snapshot-failed', 'The VM ended while its snapshot was taken.');
      machine.snapshot = {
        id: newId(),
        createdAt: new Date(),
        guest: fake.guest.copy('with-memory'),
        damage: null,
      };
    } finally {
      await this.destroy(vm.id);
    }
    return (await this.readSnapshot(fake.spec)) as MachineSnapshot;
  }

  async destroy(vmId: string): Promise<void> {
    await this.faults.enter('destroy', 'start-failed');
    this.hardware.vms.get(vmId)?.end('destroyed');
    this.hardware.vms.delete(vmId);
  }

  async list(): Promise<FoundVm[]> {
    return [...this.hardware.vms.values()].map(({ id, isRunning }) => ({ vmId: id, isRunning }));
  }

  async adopt(spec: VmSpec): Promise<Vm | null> {
    await this.faults.enter('adopt', 'start-failed');
    const vm = this.hardware.vms.get(spec.vmId);
    return vm?.isRunning === true ? vm : null;
  }

  /** Both processes have the same one in hand. */
  letGo(): void {}

  async forget(machineFolder: string): Promise<void> {
    await this.faults.enter('forget', 'start-failed');
    this.hardware.machines.delete(machineFolder);
  }

  async measure(machineFolder: string): Promise<{ diskBytes: number; snapshotBytes: number }> {
    const machine = this.hardware.machines.get(machineFolder);
    return {
      diskBytes: machine === undefined ? 0 : machine.disk.bytes + 1,
      snapshotBytes: machine?.snapshot ? machine.snapshot.guest.bytes + 1 : 0,
    };
  }

  /** The VM's process dies by itself, as by the kernel's hand. */
  kill(vmId: string): void {
    this.hardware.vms.get(vmId)?.end('killed');
  }

  /** From now on the machine's snapshot is refused for this reason. */
  damageSnapshot(machineFolder: string, reason = 'A checksum is wrong.'): void {
    const snapshot = this.hardware.machines.get(machineFolder)?.snapshot;
    if (snapshot) snapshot.damage = reason;
  }

  async #enter(call: 'create' | 'restore', spec: VmSpec): Promise<void> {
    await this.faults.enter(call, 'start-failed');
    if (this.unavailable !== null) throw new ProviderError('unavailable', this.unavailable);
    for (const { spec: other, isRunning } of this.hardware.vms.values()) {
      if (isRunning && other.machineFolder === spec.machineFolder)
        throw new Error(`two VMs of one machine: ${other.vmId} runs in ${spec.machineFolder}`);
    }
  }

  #machineOf(spec: VmSpec): FakeMachine | undefined {
    const machine = this.hardware.machines.get(spec.machineFolder);
    if (machine !== undefined && machine.imageHash !== spec.image.hash)
      throw new ProviderError('image-missing', 'The disk of this machine lies over another image.');
    return machine;
  }

  #start(spec: VmSpec, guest: FakeGuest, stage: string): Vm {
    const kept = this.hardware.machines.get(spec.machineFolder);
    this.hardware.machines.set(spec.machineFolder, {
      imageHash: spec.image.hash,
      disk: guest,
      snapshot: kept?.snapshot ?? null,
    });
    const vm = makeVm(spec, guest, new FakeAgent(guest, this.#shell), {
      pid: (this.hardware.nextPid += 1),
      stage,
    });
    this.hardware.vms.set(spec.vmId, vm);
    return vm;
  }
}

function makeVm(
  spec: VmSpec,
  guest: FakeGuest,
  agent: FakeAgent,
  { pid, stage }: { pid: number; stage: string },
): FakeVm {
  const { promise: ended, resolve } = Promise.withResolvers<{ reason: string }>();
  let channel: Duplex | null = null;
  const vm: FakeVm = {
    id: spec.vmId,
    pid,
    spec,
    guest,
    isRunning: true,
    stages: [{ stage, ms: 1 }],
    ended,
    connectAgent: async () => {
      if (!vm.isRunning) throw new ProviderError('start-failed', 'The VM has ended.');
      channel?.destroy();
      const [host, inner] = duplexPair();
      channel = host;
      agent.connect(inner);
      return host;
    },
    memoryBytes: async () => 64 * 1024 * 1024,
    end: (reason) => {
      vm.isRunning = false;
      agent.end();
      channel?.destroy();
      resolve({ reason });
    },
  };
  return vm;
}
