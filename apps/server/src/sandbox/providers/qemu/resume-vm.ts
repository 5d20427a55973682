import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { StartStages } from '@vitto/contracts';
import { ProviderError, type VmSpec } from '../sandbox-provider.ts';
import { checkImage, putBack } from './boot-vm.ts';
import { launchVm, prepareRun, unlessItEnds, type Launched, type QemuHost } from './launch-vm.ts';
import { MachineFiles, type MachineRecord } from './machine-files.ts';
import type { MemoryWorkers } from './memory-workers.ts';
import { QemuVm } from './qemu-vm.ts';
import { capabilities } from './save-state.ts';
import { fitOf, whyUnfit } from './snapshot-fit.ts';
import { readManifest, type SnapshotManifest } from './snapshot-manifest.ts';
import { stopVm } from './stop-vm.ts';
import { vmUser } from './vm-user.ts';

const run = promisify(execFile);
const INCOMING_MS = 60_000;

/** A snapshot to start from, with the machine's record as it is to be then. */
export interface Origin {
  folder: string;
  manifest: SnapshotManifest;
  /** As it is now, and once the VM runs. */
  before: MachineRecord | null;
  after: MachineRecord;
  /** Makes the disk that the VM writes to. */
  makeDisk: () => Promise<void>;
  /** Checks what lies under it. @throws Error */
  checkDisks: () => Promise<void>;
  /** Removes the snapshot when it is damaged, where another can be made. */
  discard?: () => Promise<void>;
}

/**
 * Starts a VM from a snapshot. QEMU starts while memory is laid out and everything is checked; only when all of it is
 * right is it told to take the state, so that nothing runs of a damaged snapshot.
 * @throws ProviderError
 */
export async function resumeVm(
  host: QemuHost,
  workers: MemoryWorkers,
  spec: VmSpec,
  origin: Origin,
): Promise<QemuVm> {
  const stages = new Stopwatch();
  const files = new MachineFiles(spec.machineFolder);
  const image = await checkImage(spec);
  try {
    const [runFolder] = await Promise.all([prepareRun(host, spec), origin.makeDisk()]);
    stages.note('prepare');
    const loading = load(workers, origin, runFolder.memory).then(() => performance.now());
    loading.catch(() => undefined);
    const launched = await launchVm(host, spec, {
      image: image.disk,
      overlays: files.paths(origin.after),
      beginning: 'incoming',
      statePath: join(origin.folder, 'state'),
    });
    await launched.monitor.execute('migrate-set-capabilities', { capabilities: capabilities() });
    stages.note('start');
    await unlessItEnds(loading, launched);
    stages.note('memory');
    await takeState(launched);
    stages.note('incoming');
    await files.write(origin.after);
    await Promise.all([
      launched.monitor.execute('cont'),
      launched.folder.write({ ...launched.record, phase: 'running' }),
    ]);
    stages.note('cont');
    await files.removeLeftovers(origin.after);
    const { folder, monitor, exited, qemu, record } = launched;
    return new QemuVm({
      ...{ spec, folder, monitor, exited },
      uid: record.uid,
      identity: qemu.identity,
      stages: stages.all,
    });
  } catch (error) {
    await stopVm(host.runFolder(spec.vmId));
    await putBack(files, origin.after, origin.before);
    throw error;
  }
}

/** Lays memory out and checks every file. @throws ProviderError `snapshot-unusable` */
async function load(workers: MemoryWorkers, origin: Origin, memory: string): Promise<void> {
  const { manifest, folder } = origin;
  try {
    const [state] = await Promise.all([
      workers.checksum(join(folder, 'state')),
      workers.unpack(folder, manifest.memory, memory),
      origin.checkDisks(),
    ]);
    if (state.crc !== manifest.state.crc || state.bytes !== manifest.state.bytes)
      throw new Error('the state of its devices is damaged');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOSPC')
      throw new ProviderError('no-space', 'The disk of the host is full.', 'Free space there.');
    await origin.discard?.().catch(() => undefined);
    throw unusable((error as Error).message);
  }
}

async function takeState(launched: Launched): Promise<void> {
  const { monitor } = launched;
  const done = monitor.waitFor(
    (event, data) => event === 'MIGRATION' && ['completed', 'failed'].includes(data['status'] as string),
    INCOMING_MS,
  );
  await monitor.execute('migrate-incoming', { uri: 'fd:4' });
  // QEMU ends when it does not understand a state.
  const { status } = await unlessItEnds(done.event, launched).catch((error: unknown) => {
    throw unusable((error as Error).message);
  });
  if (status !== 'completed') throw unusable('QEMU did not take the state of its devices');
}

/** The machine's own snapshot. @throws ProviderError `snapshot-unusable` */
export async function machineOrigin(host: QemuHost, workers: MemoryWorkers, spec: VmSpec): Promise<Origin> {
  const files = new MachineFiles(spec.machineFolder);
  const before = await files.read();
  if (before?.snapshotId == null) throw unusable('there is none');
  const folder = files.snapshot(before.snapshotId);
  const manifest = await fittingManifest(host, spec, folder);
  const frozen = manifest.disks.map(({ name }) => name);
  const top = `${spec.vmId}.qcow2`;
  return {
    folder,
    manifest,
    before,
    after: { ...before, overlays: [...frozen, top], frozen: frozen.length },
    makeDisk: async () => {
      const size = await files.diskSize(frozen.at(-1) ?? '');
      await files.addOverlay(top, size, vmUser(host.uids, spec.userNumber));
    },
    checkDisks: async () => {
      await Promise.all(manifest.disks.map((disk) => checkDisk(host, workers, files.disk(disk.name), disk)));
    },
  };
}

/** @throws ProviderError `snapshot-unusable` when there is none that is whole and fits */
export async function fittingManifest(
  host: QemuHost,
  spec: VmSpec,
  folder: string,
): Promise<SnapshotManifest> {
  const manifest = await readManifest(folder).catch((error: unknown) => {
    throw unusable((error as Error).message);
  });
  if (manifest === null) throw unusable('there is none');
  const unfit = whyUnfit(manifest.fit, fitOf(host, spec));
  if (unfit !== null) throw unusable(unfit);
  return manifest;
}

async function checkDisk(
  host: QemuHost,
  workers: MemoryWorkers,
  path: string,
  disk: SnapshotManifest['disks'][number],
): Promise<void> {
  const { size } = await stat(path);
  if (size !== disk.bytes) throw new Error(`its disk ${disk.name} has another length`);
  if (disk.crc !== null) {
    if ((await workers.checksum(path)).crc !== disk.crc) throw new Error(`its disk ${disk.name} is damaged`);
    return;
  }
  const { setpriv, qemuImg } = host.programs;
  const file = JSON.stringify({ driver: 'qcow2', backing: null, file: { driver: 'file', filename: path } });
  // As nobody: the file was written by a QEMU that its guest may have taken over.
  const { gid } = await stat(path);
  const user =
    host.uids === null ? [] : [`--reuid=${gid}`, `--regid=${gid}`, '--clear-groups', '--bounding-set=-all'];
  await run(setpriv, [...user, '--no-new-privs', '--', qemuImg, 'check', '-q', `json:${file}`], { env: {} });
}

export function unusable(reason: string): ProviderError {
  return new ProviderError('snapshot-unusable', `The snapshot cannot be used: ${reason}`);
}

/** Notes what a start spent its time on. */
class Stopwatch {
  readonly all: StartStages = [];
  #last = performance.now();
  note(stage: string): void {
    const now = performance.now();
    this.all.push({ stage, ms: Math.round((now - this.#last) * 10) / 10 });
    this.#last = now;
  }
}
