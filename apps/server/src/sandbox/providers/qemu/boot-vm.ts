import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type { StartStages } from '@vitto/contracts';
import { ProviderError, type VmSpec } from '../sandbox-provider.ts';
import {
  launchVm,
  prepareRun,
  unlessItEnds,
  withConsole,
  type Launched,
  type QemuHost,
} from './launch-vm.ts';
import { imageSize, MachineFiles, type MachineRecord } from './machine-files.ts';
import { QemuVm } from './qemu-vm.ts';
import { stopVm } from './stop-vm.ts';
import { vmUser } from './vm-user.ts';

/** Under TCG with others on the same processors a boot takes several times its usual 2 to 4 s. */
const BOOT_MS = 120_000;

/** Boots a machine from its kept disk, or from the image. The agent has opened its port when this resolves. */
export async function bootVm(host: QemuHost, spec: VmSpec, timeoutMs = BOOT_MS): Promise<QemuVm> {
  const began = performance.now();
  const image = await checkImage(spec);
  const files = new MachineFiles(spec.machineFolder);
  await files.make(vmUser(host.uids, spec.userNumber));
  const before = await files.read();
  const record = await writableDisk(host, spec, files, before);
  let launched: Launched | undefined;
  try {
    await prepareRun(host, spec);
    launched = await launchVm(host, spec, {
      image: image.disk,
      overlays: files.paths(record),
      beginning: { kernel: image.kernel, initramfs: image.initramfs, tscKhz: host.processor.tscKhz },
    });
    const stages = await waitForAgent(launched, began, timeoutMs);
    await launched.folder.write({ ...launched.record, phase: 'running' });
    const { folder, monitor, exited, qemu } = launched;
    return new QemuVm({
      spec,
      folder,
      uid: launched.record.uid,
      identity: qemu.identity,
      monitor,
      stages,
      exited,
    });
  } catch (error) {
    await stopVm(host.runFolder(spec.vmId));
    await putBack(files, record, before);
    throw error;
  }
}

/** Files of an image. @throws ProviderError `image-missing` */
export async function checkImage({ image }: VmSpec): Promise<{
  disk: string;
  kernel: string;
  initramfs: string;
}> {
  const paths = {
    disk: join(image.folder, 'disk.raw'),
    kernel: join(image.folder, 'kernel'),
    initramfs: join(image.folder, 'initramfs'),
  };
  for (const path of Object.values(paths)) await imageSize(path);
  return paths;
}

/** What a new machine's disk has: the size that is set, or the image's when that is larger. In bytes. */
async function newDiskSize({ image, diskGib }: VmSpec): Promise<number> {
  return Math.max(await imageSize(join(image.folder, 'disk.raw')), diskGib * 1024 ** 3);
}

/** The machine's record with a disk at its end that may be written to: the kept one, or a new one over what is frozen. */
async function writableDisk(
  host: QemuHost,
  spec: VmSpec,
  files: MachineFiles,
  kept: MachineRecord | null,
): Promise<MachineRecord> {
  if (kept !== null) await checkDisks(spec, files, kept);
  await files.removeLeftovers(kept);
  const user = vmUser(host.uids, spec.userNumber);
  const top = kept?.overlays.at(-1);
  if (kept !== null && top !== undefined && kept.frozen < kept.overlays.length) {
    await files.thaw(top, user);
    return kept;
  }
  const name = `${spec.vmId}.qcow2`;
  await files.addOverlay(name, top === undefined ? await newDiskSize(spec) : await files.diskSize(top), user);
  const record = {
    imageHash: spec.image.hash,
    overlays: [...(kept?.overlays ?? []), name],
    frozen: kept?.frozen ?? 0,
    snapshotId: kept?.snapshotId ?? null,
  };
  await files.write(record);
  return record;
}

/** @throws ProviderError when the disk lies over another image, or a part of it is gone. */
export async function checkDisks(spec: VmSpec, files: MachineFiles, record: MachineRecord): Promise<void> {
  if (record.imageHash !== spec.image.hash) {
    throw new ProviderError(
      'image-missing',
      `The disk of this machine lies over image ${record.imageHash.slice(0, 12)}, not ${spec.image.hash.slice(0, 12)}.`,
      'Keep that image, or forget the machine.',
    );
  }
  for (const path of files.paths(record)) {
    await access(path).catch(() => {
      throw new ProviderError('start-failed', `A part of the machine's disk is gone: ${path}`);
    });
  }
}

/** After a start that failed, the machine is as it was before: a new disk that nothing was written to goes. */
export async function putBack(
  files: MachineFiles,
  record: MachineRecord,
  before: MachineRecord | null,
): Promise<void> {
  if (record === before) return;
  if (before === null) await files.forgetRecord();
  else await files.write(before);
  await files.removeLeftovers(before);
}

/** Waits until the guest's agent has opened its port, and notes when what came. */
async function waitForAgent(launched: Launched, began: number, timeoutMs: number): Promise<StartStages> {
  const stages: StartStages = [];
  let last = began;
  const note = (stage: string): void => {
    const now = performance.now();
    stages.push({ stage, ms: Math.round((now - last) * 10) / 10 });
    last = now;
  };
  note('start');
  launched.qemu.onMark(note);
  const opened = launched.monitor.waitFor(
    (event, data) => event === 'VSERPORT_CHANGE' && data['id'] === 'agent' && data['open'] === true,
    timeoutMs,
  );
  try {
    await unlessItEnds(opened.event, launched);
  } catch (error) {
    throw error instanceof ProviderError ? withConsole(error, launched.qemu) : error;
  } finally {
    opened.cancel();
    launched.qemu.onMark(() => undefined);
  }
  note('agent');
  return stages;
}
