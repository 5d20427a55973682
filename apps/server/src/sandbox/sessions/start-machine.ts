import { join } from 'node:path';
import type { SandboxOrigin } from '@vitto/contracts';
import { AppError, describeError } from '../../kernel/app-error.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Database } from '../../kernel/database/database.ts';
import { newId } from '../../kernel/ids.ts';
import {
  ProviderError,
  type SandboxProvider,
  type Vm,
  type VmImage,
  type VmSpec,
} from '../providers/sandbox-provider.ts';
import { markRunning, markStarting, type Held, type MachineRow } from './machine.store.ts';
import { makeGuestIdentity, type SessionAgent } from './session-agent.ts';

const DAY_MS = 86_400_000;

export interface MachineOwner {
  sandboxId: string;
  userId: string;
}

export interface StartDeps {
  database: Database;
  provider: SandboxProvider;
  /** Connects to the agent of a guest, which may still be coming up. @throws when it does not answer. */
  connectAgent: (vm: Vm, of: MachineOwner) => Promise<SessionAgent>;
  /** The image of a template: the newest, or the one that a disk was made on. @throws AppError `sandbox.image-missing`, `sandbox.image-building` */
  findImage: (template: string, hash: string | null) => Promise<VmImage>;
  /** What VMs of a template get on this host now. */
  sizesOf: (template: string) => Promise<VmSizes>;
  machinesFolder: string;
  snapshotMaxAgeDays: number;
  clock: Clock;
}

export type VmSizes = Pick<VmSpec, 'memoryMib' | 'cpus' | 'diskGib'>;

/** A VM that answers, with an identity of its own. */
export interface StartedVm {
  vm: Vm;
  agent: SessionAgent;
  spec: VmSpec;
  origin: SandboxOrigin;
  sshHostPublicKey: string;
  /** What the user should know of how it came, a sentence each. */
  notices: string[];
}

interface Rung {
  origin: Exclude<SandboxOrigin, 'session'>;
  start: (spec: VmSpec) => Promise<Vm>;
}

/**
 * Starts a machine's VM: from its snapshot, else on its disk, else from the image's base snapshot, else from the image.
 * What cannot be used is stepped over with a notice; a machine with a disk is never started without it. Each try is
 * written down before it begins.
 * @throws AppError `sandbox.start-failed`, `sandbox.unavailable`, `sandbox.no-space`, `sandbox.image-missing`; no VM is left then.
 */
export async function startMachine(deps: StartDeps, held: Held, row: MachineRow): Promise<StartedVm> {
  const began = deps.clock.monotonic();
  const machineFolder = join(deps.machinesFolder, row.id);
  const image = await findImage(deps, row, machineFolder);
  const { memoryMib, cpus } = await deps.sizesOf(row.template);
  const spec: Omit<VmSpec, 'vmId'> = {
    machineFolder,
    image,
    memoryMib,
    cpus,
    // A disk keeps the size that it was made with.
    diskGib: row.diskGib,
    userNumber: row.userNumber,
  };
  const notices: string[] = [];
  const rungs = await listRungs(deps, row, { ...spec, vmId: '' }, notices);
  for (const [index, rung] of rungs.entries()) {
    // What a first start left that came to nothing is no disk of the user's.
    if (!row.hasStarted) await deps.provider.forget(spec.machineFolder);
    const own = { ...spec, vmId: newId() };
    const start = { vmId: own.vmId, imageHash: image.hash, memoryMib, cpus };
    if (!(await markStarting(deps.database, held, start))) throw taken();
    try {
      const started = await startRung(deps, rung, own, { sandboxId: row.id, userId: row.userId });
      await commitStart(deps, held, started, Math.round(deps.clock.monotonic() - began));
      return { ...started, notices };
    } catch (error) {
      // One that does not go away must not meet a second one of its machine: no other way is tried then.
      await deps.provider.destroy(own.vmId);
      if (isFinal(error) || index === rungs.length - 1) throw toAppError(error);
      notices.push(`${WHAT[rung.origin]} could not be used (${describeError(error)}).`);
    }
  }
  throw new Error('a machine without a way to start');
}

/** A disk starts with the image that it was made on, a new machine with the newest. */
async function findImage(deps: StartDeps, row: MachineRow, machineFolder: string): Promise<VmImage> {
  if (!row.hasStarted) return deps.findImage(row.template, null);
  const hash = await deps.provider.imageHashOf(machineFolder);
  if (hash !== null) return deps.findImage(row.template, hash);
  throw new AppError(DISK_GONE, 'The disk of the machine is gone from its host.', { status: 410 });
}

/** Code of the refusal to start a machine whose disk somebody has removed: it is to be made anew. */
export const DISK_GONE = 'sandbox.disk-gone';

const WHAT: Record<Rung['origin'], string> = {
  'user-snapshot': 'The snapshot of your machine',
  'user-disk': 'The disk of your machine',
  'base-snapshot': "The image's snapshot",
  boot: 'The image',
};

async function listRungs(deps: StartDeps, row: MachineRow, spec: VmSpec, notices: string[]): Promise<Rung[]> {
  const { provider } = deps;
  const boot = (origin: Rung['origin']): Rung => ({ origin, start: (own) => provider.create(own) });
  if (row.hasStarted) {
    if (row.lostReason !== null) {
      notices.push(
        `Your machine ended without a snapshot: ${row.lostReason}. It starts from its disk: files are kept, what ran is not.`,
      );
    }
    const problem = row.isSnapshotCurrent ? await whyNotRestored(deps, row, spec) : null;
    if (problem !== null)
      notices.push(`The snapshot of your machine is not used: ${problem}. It starts from its disk.`);
    const disk = boot('user-disk');
    if (!row.isSnapshotCurrent || problem !== null) return [disk];
    return [{ origin: 'user-snapshot', start: (own) => provider.restore(own, 'machine') }, disk];
  }
  const base: Rung = { origin: 'base-snapshot', start: (own) => provider.restore(own, 'base') };
  return (await provider.hasBaseSnapshot(spec)) ? [base, boot('boot')] : [boot('boot')];
}

async function whyNotRestored(deps: StartDeps, row: MachineRow, spec: VmSpec): Promise<string | null> {
  const snapshot = await deps.provider.readSnapshot(spec);
  if (snapshot === null) return 'its files are gone';
  if (snapshot.id !== row.snapshotId) return 'it is not the one that was taken last';
  const age = deps.clock.now() - snapshot.createdAt.getTime();
  if (age > deps.snapshotMaxAgeDays * DAY_MS) return `it is older than ${deps.snapshotMaxAgeDays} days`;
  return snapshot.isUsable ? null : (snapshot.reason ?? 'it does not fit this host');
}

/** Nothing may run in a guest before its clock, its randomness and its keys are its own: else it is ended. */
async function startRung(
  deps: StartDeps,
  rung: Rung,
  spec: VmSpec,
  owner: MachineOwner,
): Promise<Omit<StartedVm, 'notices'>> {
  const vm = await rung.start(spec);
  const agent = await deps.connectAgent(vm, owner);
  try {
    const identity = makeGuestIdentity();
    await agent.resume(identity);
    return { vm, agent, spec, origin: rung.origin, sshHostPublicKey: identity.hostPublicKey };
  } catch (error) {
    agent.close();
    throw error;
  }
}

async function commitStart(
  deps: StartDeps,
  held: Held,
  started: Omit<StartedVm, 'notices'>,
  acquireMs: number,
): Promise<void> {
  const { vm, agent, origin } = started;
  const isHeld = await markRunning(deps.database, held, {
    vmId: vm.id,
    origin,
    acquireMs,
    stages: vm.stages,
  }).catch((error: unknown) => {
    agent.close();
    throw error;
  });
  if (isHeld) return;
  agent.close();
  throw taken();
}

/** The row went to another process, or away, while the VM started. */
function taken(): AppError {
  return new AppError('sandbox.not-found', 'The machine was removed or taken over while it started.', {
    status: 409,
    hint: 'Try again.',
  });
}

/** Another way to start would end the same. */
function isFinal(error: unknown): boolean {
  if (error instanceof AppError) return true;
  return error instanceof ProviderError && ['unavailable', 'image-missing', 'no-space'].includes(error.code);
}

const CODES: Partial<Record<ProviderError['code'], string>> = {
  unavailable: 'sandbox.unavailable',
  'image-missing': 'sandbox.image-missing',
  'no-space': 'sandbox.no-space',
};

function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const isKnown = error instanceof ProviderError;
  const code = (isKnown ? CODES[error.code] : undefined) ?? 'sandbox.start-failed';
  const hint =
    (isKnown ? error.hint : undefined) ??
    'Try again. If it stays so, the machine can be forgotten under Operations, System: its files are lost then.';
  return new AppError(code, `The machine did not start: ${describeError(error)}`, {
    status: 503,
    hint,
    cause: error,
  });
}
