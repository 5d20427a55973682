import { createHash } from 'node:crypto';
import { release } from 'node:os';
import { z } from 'zod';
import type { VmSpec } from '../sandbox-provider.ts';
import { kernelArguments, machineArguments } from './command-line.ts';
import type { QemuHost } from './launch-vm.ts';

/** What a guest in a snapshot was started with: it goes on only with the same. */
export const snapshotFit = z.object({
  qemu: z.string(),
  accelerator: z.enum(['kvm', 'tcg']),
  processor: z.string(),
  /** With KVM the host's kernel decides what of its processor a guest sees. */
  kernel: z.string().optional(),
  memoryMib: z.number().int(),
  cpus: z.number().int(),
  /** Of the command lines of QEMU and the kernel, without paths. */
  commandLine: z.string(),
  image: z.string(),
});
export type SnapshotFit = z.infer<typeof snapshotFit>;

export function fitOf(host: QemuHost, spec: VmSpec): SnapshotFit {
  const shape = { accelerator: host.accelerator, memoryMib: spec.memoryMib, cpus: spec.cpus };
  const commandLine = [...machineArguments(shape), kernelArguments(host.accelerator, 0)];
  return {
    qemu: host.version,
    ...shape,
    processor: host.processor.hash,
    ...(host.accelerator === 'kvm' ? { kernel: release() } : {}),
    commandLine: digest(commandLine),
    image: spec.image.hash,
  };
}

/** Names the folder of an image's base snapshot for hosts of one kind and VMs of one size. */
export function fitKey(fit: SnapshotFit, diskGib: number): string {
  return digest([fit, diskGib]);
}

const WORDS: Record<keyof SnapshotFit, string> = {
  qemu: 'another version of QEMU',
  accelerator: 'another accelerator',
  processor: 'another processor',
  kernel: 'another kernel of the host',
  memoryMib: 'another memory size',
  cpus: 'another number of processors',
  commandLine: 'another version of Vitto',
  image: 'another image',
};

/** Why a snapshot cannot be used here, for people; `null`: it fits. */
export function whyUnfit(made: SnapshotFit, here: SnapshotFit): string | null {
  for (const name of Object.keys(WORDS) as (keyof SnapshotFit)[]) {
    if (made[name] !== here[name]) return `It was made with ${WORDS[name]}.`;
  }
  return null;
}

function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16);
}
