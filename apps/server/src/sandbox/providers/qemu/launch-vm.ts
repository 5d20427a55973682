import { chown, open, statfs } from 'node:fs/promises';
import { closeSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Logger } from '../../../kernel/logger.ts';
import type { ResourceLimiter } from '../process/resources/resource-group.ts';
import { ProviderError, type VmSpec } from '../sandbox-provider.ts';
import {
  launchCommand,
  qemuArguments,
  type Accelerator,
  type QemuPlan,
  type VmUser,
} from './command-line.ts';
import type { HostProcessor } from './host-processor.ts';
import { startQemu, type QemuProcess } from './qemu-process.ts';
import type { QemuPrograms } from './qemu-programs.ts';
import { QmpClient } from './qmp-client.ts';
import type { RunFolder, RunRecord } from './run-folder.ts';
import { stopProcess } from './stop-vm.ts';
import { vmUser, type UidRange } from './vm-user.ts';

const MiB = 1024 * 1024;
/** What QEMU takes besides the guest's memory: translated code (128 MiB under TCG), itself, what it reads and writes. */
const OVERHEAD = 384 * MiB;
/** QEMU's own threads: a virtual processor each, and up to 64 for the disk. */
const THREADS = 128;
/** Left free on the disk when a VM starts: its memory lies in a file, and one that cannot grow kills it. */
const SPARE = 256 * MiB;

/** This host, as VMs are made on it. */
export interface QemuHost {
  runFolder: (vmId: string) => RunFolder;
  programs: QemuPrograms;
  version: string;
  accelerator: Accelerator;
  processor: HostProcessor;
  uids: UidRange | null;
  limiter: ResourceLimiter | null;
  logger: Logger;
}

export interface Launched {
  folder: RunFolder;
  record: RunRecord;
  qemu: QemuProcess;
  monitor: QmpClient;
  /** The VM's process has ended and its control group is gone. */
  exited: Promise<string>;
}

/**
 * Starts QEMU for a VM whose folder and disks are there. Its monitor answers when this resolves; the record of the run says
 * `starting`. `statePath`: the device state that it will begin from.
 * @throws ProviderError
 */
export async function launchVm(
  host: QemuHost,
  spec: VmSpec,
  plan: Pick<QemuPlan, 'overlays' | 'beginning' | 'image'> & { statePath?: string },
): Promise<Launched> {
  const user = vmUser(host.uids, spec.userNumber);
  const folder = host.runFolder(spec.vmId);
  const record = folder.newRecord(spec, user);
  const group = host.limiter?.create(spec.vmId, {
    memoryBytes: spec.memoryMib * MiB + OVERHEAD,
    processes: THREADS,
  });
  const args = qemuArguments({
    vmId: spec.vmId,
    accelerator: host.accelerator,
    memoryMib: spec.memoryMib,
    cpus: spec.cpus,
    rom: host.programs.rom,
    image: plan.image,
    overlays: plan.overlays,
    memoryFile: folder.memory,
    beginning: plan.beginning,
  });
  const command = launchCommand(host.programs, user, {
    joinFiles: group?.joinFiles ?? [],
    deviceGroup: host.accelerator === 'kvm' ? groupOf('/dev/kvm') : null,
    qemu: args,
  });
  const stateFile = plan.statePath === undefined ? undefined : openSync(plan.statePath, 'r');
  let qemu: QemuProcess;
  try {
    qemu = await startQemu(command, { cwd: folder.io, ...(stateFile === undefined ? {} : { stateFile }) });
  } catch (error) {
    await group?.remove();
    throw error;
  } finally {
    if (stateFile !== undefined) closeSync(stateFile);
  }
  group?.attach(qemu.identity.pid);
  const exited = qemu.exited.finally(() => group?.remove());
  record.process = qemu.identity;

  const monitor = new QmpClient(qemu.monitor);
  try {
    await Promise.all([folder.write(record), monitor.negotiate()]);
    qemu.letGo();
  } catch (error) {
    await stopProcess(qemu.identity);
    await exited;
    throw withConsole(error, qemu);
  }
  return { folder, record, qemu, monitor, exited };
}

/** Makes a VM's folder and its memory, empty, before anything is started. */
export async function prepareRun(host: QemuHost, spec: VmSpec): Promise<RunFolder> {
  const user = vmUser(host.uids, spec.userNumber);
  const folder = host.runFolder(spec.vmId);
  await requireSpace(dirname(folder.path), spec.memoryMib * MiB);
  await folder.make(user);
  // Whose it is stands there before its process does.
  await folder.write(folder.newRecord(spec, user));
  await makeMemoryFile(folder.memory, spec.memoryMib, user);
  return folder;
}

/** The group that a device is for; `null` when everybody may open it. */
function groupOf(device: string): number | null {
  const { mode, gid } = statSync(device);
  return (mode & 0o006) === 0o006 ? null : gid;
}

/** Of its full size from the start, without a byte of it taken. */
async function makeMemoryFile(path: string, memoryMib: number, user: VmUser): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.truncate(memoryMib * MiB);
  } finally {
    await file.close();
  }
  if (user !== null) await chown(path, user.uid, user.gid);
}

/** @throws ProviderError `no-space` */
async function requireSpace(folder: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize >= bytes + SPARE) return;
  throw new ProviderError(
    'no-space',
    `A machine needs ${Math.ceil((bytes + SPARE) / MiB)} MiB free in ${folder}, and there are ${Math.floor((bavail * bsize) / MiB)}.`,
    'Free space there, or forget machines that nobody needs: `vitto vm ls`.',
  );
}

/** The error with what guest and QEMU printed last. */
export function withConsole(error: unknown, qemu: QemuProcess): ProviderError {
  const printed = qemu.console().trim().split('\n').slice(-5).join('\n');
  const { message, code } = error as { message: string; code?: string };
  return new ProviderError(
    code === 'no-space' || code === 'snapshot-unusable' ? code : 'start-failed',
    printed === '' ? message : `${message}\n${printed}`,
  );
}

/** Fails when the VM's process ends first. */
export async function unlessItEnds<T>(work: Promise<T>, { qemu, exited }: Launched): Promise<T> {
  const ended = exited.then((reason): never => {
    throw withConsole(new Error(`QEMU ended: ${reason}`), qemu);
  });
  work.catch(() => undefined);
  return Promise.race([work, ended]);
}
