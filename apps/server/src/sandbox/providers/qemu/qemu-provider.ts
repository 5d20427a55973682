import { randomUUID } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describeError } from '../../../kernel/app-error.ts';
import { silentLogger, type Logger } from '../../../kernel/logger.ts';
import { findCgroupV1 } from '../process/resources/cgroup-v1.ts';
import { findCgroupV2 } from '../process/resources/cgroup-v2.ts';
import type { ResourceLimiter } from '../process/resources/resource-group.ts';
import {
  ProviderError,
  type FoundVm,
  type MachineSnapshot,
  type ProviderHealth,
  type SandboxProvider,
  type Vm,
  type VmImage,
  type VmSpec,
} from '../sandbox-provider.ts';
import { adoptVm } from './adopt-vm.ts';
import { baseOrigin, hasBase, keepAsBase } from './base-snapshot.ts';
import { bootVm } from './boot-vm.ts';
import { readHostProcessor } from './host-processor.ts';
import type { QemuHost } from './launch-vm.ts';
import { imageSize, MachineFiles } from './machine-files.ts';
import { MemoryWorkers } from './memory-workers.ts';
import { chooseAccelerator, findObstacle, healthOf, readVersion } from './qemu-health.ts';
import { findQemuPrograms, type FoundPrograms } from './qemu-programs.ts';
import type { QemuVm } from './qemu-vm.ts';
import { describeSnapshot } from './describe-snapshot.ts';
import { machineOrigin, resumeVm } from './resume-vm.ts';
import { growRoot, settleGuest } from './settle-guest.ts';
import { suspendVm } from './take-snapshot.ts';
import { isAlive } from './process-identity.ts';
import { isVmId, RunFolder } from './run-folder.ts';
import { stopVm } from './stop-vm.ts';
import { defaultVmUids, type UidRange } from './vm-user.ts';

export interface QemuProviderOptions {
  /** Folder of VMs and machines. As root, every user must be able to pass through to it (not below a 0700 home). */
  root: string;
  /** As root: numbers of the unprivileged users that VMs run as; by default a range of their own. */
  runAs?: UidRange | null;
  /** An image that KVM can be tried with; `null` while none is built. */
  findImage?: () => Promise<VmImage | null>;
  programs?: FoundPrograms;
  logger?: Logger;
}

interface Probed {
  health: ProviderHealth;
  host: QemuHost | null;
}

/** How long an answer that VMs cannot be had, or only without KVM for want of an image, is kept. */
const RETRY_MS = 30_000;
/** With KVM a guest is up in one second; one that hangs stays so. The answer is kept, so a busy host gets time. */
const KVM_TRIAL_MS = 15_000;

/** VMs by QEMU's microvm machine (specification 02), with KVM or emulated: the same image and the same code. */
export class QemuProvider implements SandboxProvider {
  readonly name = 'qemu';
  readonly #options: QemuProviderOptions;
  readonly #logger: Logger;
  readonly #workers = new MemoryWorkers();
  readonly #running = new Map<string, QemuVm>();
  #probing: { at: number; isFinal: boolean; result: Promise<Probed> } | null = null;

  constructor(options: QemuProviderOptions) {
    this.#options = options;
    this.#logger = options.logger ?? silentLogger;
  }

  async health(): Promise<ProviderHealth> {
    return (await this.#probed()).health;
  }

  async create(spec: VmSpec): Promise<Vm> {
    const vm = this.#keep(await bootVm(await this.#host(), spec));
    return this.#grown(vm, spec);
  }

  async destroy(vmId: string): Promise<void> {
    await stopVm(this.#runFolder(vmId));
    // Its process is gone; what is left to come of it does not keep this one alive.
    await Promise.race([this.#running.get(vmId)?.ended, sleep(1_000)]);
    this.#running.delete(vmId);
  }

  async list(): Promise<FoundVm[]> {
    const names = await readdir(join(this.#options.root, 'run')).catch(() => []);
    const found = await Promise.all(
      names.filter(isVmId).map(async (vmId) => {
        const folder = this.#runFolder(vmId);
        const record = await folder.read();
        if (record?.keeper && isAlive(record.keeper)) return null;
        return { vmId, isRunning: folder.findProcess(record) !== null };
      }),
    );
    return found.filter((one) => one !== null);
  }

  async adopt(spec: VmSpec): Promise<Vm | null> {
    const known = this.#running.get(spec.vmId);
    if (known !== undefined) return known;
    const vm = await adoptVm(this.#runFolder(spec.vmId), spec);
    return vm === null ? null : this.#keep(vm);
  }

  letGo(vmId: string): void {
    this.#running.get(vmId)?.letGo();
    this.#running.delete(vmId);
  }

  async restore(spec: VmSpec, snapshot: 'machine' | 'base'): Promise<Vm> {
    const host = await this.#host();
    const find = snapshot === 'machine' ? machineOrigin : baseOrigin;
    return this.#keep(await resumeVm(host, this.#workers, spec, await find(host, this.#workers, spec)));
  }

  async readSnapshot(spec: VmSpec): Promise<MachineSnapshot | null> {
    return describeSnapshot(await this.#host(), spec);
  }

  async suspend(vm: Vm): Promise<MachineSnapshot> {
    const host = await this.#host();
    const known = this.#running.get(vm.id);
    if (known === undefined) throw new ProviderError('snapshot-failed', 'The VM does not run.');
    await suspendVm(host, this.#workers, known);
    const snapshot = await describeSnapshot(host, known.spec);
    if (snapshot === null) throw new ProviderError('snapshot-failed', 'The snapshot went away.');
    return snapshot;
  }

  async hasBaseSnapshot(spec: VmSpec): Promise<boolean> {
    return hasBase(await this.#host(), spec);
  }

  async makeBaseSnapshot(spec: VmSpec): Promise<void> {
    const host = await this.#host();
    if (await hasBase(host, spec)) return;
    try {
      const vm = this.#keep(await bootVm(host, { ...spec, isPassing: true }));
      await this.#grown(vm, spec);
      await settleGuest(vm);
      await keepAsBase(host, this.#workers, vm);
    } finally {
      await this.destroy(spec.vmId);
      await this.forget(spec.machineFolder);
    }
  }

  async imageHashOf(machineFolder: string): Promise<string | null> {
    return (await new MachineFiles(machineFolder).read())?.imageHash ?? null;
  }

  async forget(machineFolder: string): Promise<void> {
    await rm(machineFolder, { recursive: true, force: true });
  }

  async measure(machineFolder: string): Promise<{ diskBytes: number; snapshotBytes: number }> {
    return new MachineFiles(machineFolder).measure();
  }

  /** The VM with all of its disk in use; ended when that fails. */
  async #grown(vm: QemuVm, spec: VmSpec): Promise<QemuVm> {
    if (spec.diskGib * 1024 ** 3 <= (await imageSize(join(spec.image.folder, 'disk.raw')))) return vm;
    try {
      await growRoot(vm);
      return vm;
    } catch (error) {
      await this.destroy(spec.vmId);
      throw error;
    }
  }

  #runFolder(vmId: string): RunFolder {
    return new RunFolder(join(this.#options.root, 'run'), vmId);
  }

  #keep(vm: QemuVm): QemuVm {
    this.#running.set(vm.id, vm);
    void vm.ended.then(({ reason }) => {
      if (this.#running.get(vm.id) === vm) this.#running.delete(vm.id);
      this.#logger.info({ vmId: vm.id, reason }, 'a VM has ended');
    });
    return vm;
  }

  /** @throws ProviderError `unavailable` */
  async #host(): Promise<QemuHost> {
    const { host, health } = await this.#probed();
    if (host !== null) return host;
    throw new ProviderError('unavailable', health.reason ?? 'VMs cannot be had.', health.hint ?? undefined);
  }

  #probed(): Promise<Probed> {
    const last = this.#probing;
    if (last !== null && (last.isFinal || performance.now() - last.at < RETRY_MS)) return last.result;
    const probing = { at: performance.now(), isFinal: false, result: this.#probe() };
    this.#probing = probing;
    void probing.result.then(({ host, health }) => {
      probing.isFinal = host !== null && health.accelerator !== null && this.#isSettled;
    });
    return probing.result;
  }

  /** Whether KVM was tried, or cannot be. */
  #isSettled = false;

  async #probe(): Promise<Probed> {
    const found = this.#options.programs ?? findQemuPrograms();
    const refuse = (reason: string, hint: string | null): Probed => ({
      health: { available: false, accelerator: null, version: null, reason, hint, notices: [] },
      host: null,
    });
    try {
      const obstacle = await findObstacle(found, this.#options.root);
      if (obstacle !== null) return refuse(obstacle.reason, obstacle.hint);
      return await this.#probeHost(found);
    } catch (error) {
      return refuse(`VMs cannot be had: ${describeError(error)}`, 'See `vitto doctor`.');
    }
  }

  async #probeHost({ programs }: FoundPrograms): Promise<Probed> {
    const version = await readVersion(programs.qemu);
    const limiter = findLimiter();
    limiter?.removeStale();
    this.#workers.warm();
    const host: QemuHost = {
      runFolder: (vmId) => this.#runFolder(vmId),
      programs,
      version,
      accelerator: 'tcg',
      processor: readHostProcessor(),
      uids: this.#options.runAs === undefined ? defaultVmUids() : this.#options.runAs,
      limiter,
      logger: this.#logger,
    };
    const image = (await this.#options.findImage?.()) ?? null;
    const choice = await chooseAccelerator(
      version,
      join(this.#options.root, 'accelerator.json'),
      image === null ? null : () => this.#tryKvm({ ...host, accelerator: 'kvm' }, image),
    );
    this.#isSettled = image !== null;
    host.accelerator = choice.accelerator;
    const isRoot = process.getuid?.() === 0;
    return { host, health: healthOf(version, choice, { isRoot, hasGroups: limiter !== null }) };
  }

  /** Starts a guest with KVM; what went wrong, or `null`. */
  async #tryKvm(host: QemuHost, image: VmImage): Promise<string | null> {
    const vmId = `kvm-${randomUUID()}`;
    const machineFolder = join(this.#options.root, 'machines', vmId);
    const spec = {
      vmId,
      machineFolder,
      image,
      memoryMib: 256,
      cpus: 1,
      diskGib: 1,
      userNumber: 0,
      isPassing: true as const,
    };
    try {
      await bootVm(host, spec, KVM_TRIAL_MS);
      return null;
    } catch (error) {
      return describeError(error).replaceAll('\n', ' ');
    } finally {
      await this.destroy(vmId);
      await this.forget(machineFolder);
    }
  }
}

function findLimiter(): ResourceLimiter | null {
  for (const find of [findCgroupV2, findCgroupV1]) {
    try {
      const limiter = find();
      if (limiter !== null) return limiter;
    } catch {
      // The next one, or none.
    }
  }
  return null;
}
