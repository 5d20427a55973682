import type { Duplex } from 'node:stream';
import type { StartStages } from '@vitto/contracts';

/**
 * What makes VMs on this host (specification 02). Everything above it (who owns a VM, how long it lives, what runs in
 * it) is common to all providers. A provider knows folders and processes, no users and no database. One contract test
 * runs over every implementation (`sandbox-provider.contract.ts`).
 *
 * A *machine* is what is kept of one user and template: `machineFolder` with its disk and its snapshot. A *VM* is one
 * running of it, `vmId`, with a folder of its own. At most one VM of a machine runs at a time; the caller sees to that.
 */
export interface SandboxProvider {
  readonly name: 'qemu' | 'firecracker' | 'e2b' | 'none' | 'fake';

  /** Whether VMs can be had here, found out by starting one; cached. Never rejects. */
  health(): Promise<ProviderHealth>;

  /**
   * Starts a VM: on the machine's kept disk when it has one, else on a new disk over the image.
   * @throws ProviderError
   */
  create(spec: VmSpec): Promise<Vm>;

  /**
   * Starts a VM from a snapshot: the machine's own, or with `'base'` the base snapshot of the image (the machine has
   * no disk yet). The snapshot stays as it is until the next one of this machine is complete. Clock, randomness and
   * keys are the caller's to mend before anything runs in it.
   * @throws ProviderError `snapshot-unusable` when it is damaged or does not fit this host; nothing runs then.
   */
  restore(spec: VmSpec, snapshot: 'machine' | 'base'): Promise<Vm>;

  /** What the machine's snapshot is and whether `restore` may use it (fits, is complete; contents are verified by restoring). */
  readSnapshot(spec: VmSpec): Promise<MachineSnapshot | null>;
  /** Whether the image has a base snapshot that fits this host and size. */
  hasBaseSnapshot(spec: VmSpec): Promise<boolean>;
  /**
   * Boots the image once, waits for its agent and keeps a snapshot of it in the image's folder, for every machine to
   * start from. Does nothing when there is one that fits. The machine folder of the spec is used and removed.
   * @throws ProviderError
   */
  makeBaseSnapshot(spec: VmSpec): Promise<void>;
  /** Hash of the image that the machine's kept disk lies over: it starts with that one only. `null`: no disk is kept. */
  imageHashOf(machineFolder: string): Promise<string | null>;

  /**
   * Takes the machine's snapshot and ends the VM. The new snapshot is written beside the older one and takes its place
   * in one step when all of it is on the disk: a crash leaves the older one, or none, and a disk that boots.
   * @throws ProviderError; the VM is ended then too, its disk is kept.
   */
  suspend(vm: Vm): Promise<MachineSnapshot>;

  /** Ends a VM, by its id; the disk is kept as it is then. Idempotent, and works for VMs of an earlier process. */
  destroy(vmId: string): Promise<void>;

  /** All VMs that run here or have left a folder, those of an earlier process included; passing ones of a live process not. */
  list(): Promise<FoundVm[]>;
  /** Takes a VM over that an earlier process started; `null` when it does not run (any more). */
  adopt(spec: VmSpec): Promise<Vm | null>;
  /** Leaves a VM to the process that takes it over, which may be waiting for that: it goes on, out of this one's hands. */
  letGo(vmId: string): void;

  /** Removes all that is kept of a machine. No VM of it runs. Idempotent. */
  forget(machineFolder: string): Promise<void>;
  /** Bytes on the disk that a machine takes. */
  measure(machineFolder: string): Promise<{ diskBytes: number; snapshotBytes: number }>;
}

export interface ProviderHealth {
  available: boolean;
  accelerator: 'kvm' | 'tcg' | null;
  version: string | null;
  /** Why not, for people, and what to do about it. */
  reason: string | null;
  hint: string | null;
  /** What holds less than it could, a sentence each (not root, no cgroups). */
  notices: string[];
}

/** A built image on this host; see `images/`. Read by everybody, written by the builder only. */
export interface VmImage {
  name: string;
  /** SHA-256 of the recipe and everything that goes into it. */
  hash: string;
  /** Holds `kernel`, `initramfs`, `disk.raw` and `base/<fit>/`. */
  folder: string;
}

export interface VmSpec {
  vmId: string;
  /** Absolute; made when missing. Named by ids, never by what a user wrote. */
  machineFolder: string;
  image: VmImage;
  memoryMib: number;
  cpus: number;
  diskGib: number;
  /** Number that tells machines apart: the unprivileged system user of the VM's process comes from it. */
  userNumber: number;
  /**
   * Nobody's machine, made for a trial or a base snapshot. Its VM belongs to the process that starts it: no other one
   * finds it while that lives, and it is ended with all that is kept of it.
   */
  isPassing?: true;
}

export interface Vm {
  readonly id: string;
  /** Of the VM's process on this host; `null` where there is none. */
  readonly pid: number | null;
  readonly stages: StartStages;
  /** Opens the channel to the guest agent (`images/guest/PROTOCOL.md`). One at a time; a new one closes the one before. */
  connectAgent(): Promise<Duplex>;
  /** Settles when the VM has ended, whatever ended it. Never rejects. */
  readonly ended: Promise<{ reason: string }>;
  /** Resident bytes of the VM's process. */
  memoryBytes(): Promise<number>;
}

export interface FoundVm {
  vmId: string;
  isRunning: boolean;
}

export interface MachineSnapshot {
  id: string;
  createdAt: Date;
  bytes: number;
  /** False when it was made by another QEMU, accelerator, processor or size, or is not complete; `reason` says which. */
  isUsable: boolean;
  reason: string | null;
}

export type ProviderErrorCode =
  /** No VM can be had here. */
  | 'unavailable'
  /** The image is not built, or a file of it is missing. */
  | 'image-missing'
  /** The VM did not start, or ended while it started. */
  | 'start-failed'
  | 'snapshot-unusable'
  | 'snapshot-failed'
  | 'no-space';

export class ProviderError extends Error {
  readonly code: ProviderErrorCode;
  readonly hint: string | undefined;
  constructor(code: ProviderErrorCode, message: string, hint?: string) {
    super(message);
    this.name = 'ProviderError';
    this.code = code;
    this.hint = hint;
  }
}
