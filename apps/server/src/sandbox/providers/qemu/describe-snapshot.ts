import type { MachineSnapshot, VmSpec } from '../sandbox-provider.ts';
import type { QemuHost } from './launch-vm.ts';
import { diskUsage, MachineFiles } from './machine-files.ts';
import { fitOf, whyUnfit } from './snapshot-fit.ts';
import { readManifest } from './snapshot-manifest.ts';

/** What the machine's snapshot is, without reading its contents. */
export async function describeSnapshot(host: QemuHost, spec: VmSpec): Promise<MachineSnapshot | null> {
  const files = new MachineFiles(spec.machineFolder);
  const record = await files.read();
  if (record?.snapshotId == null) return null;
  const folder = files.snapshot(record.snapshotId);
  const bytes = await diskUsage(folder);
  const broken = (reason: string): MachineSnapshot => ({
    id: record.snapshotId ?? '',
    createdAt: new Date(0),
    bytes,
    isUsable: false,
    reason,
  });
  try {
    const manifest = await readManifest(folder);
    if (manifest === null) return broken('It is not complete.');
    const reason = whyUnfit(manifest.fit, fitOf(host, spec));
    const createdAt = new Date(manifest.createdAt);
    return { id: manifest.id, createdAt, bytes, isUsable: reason === null, reason };
  } catch (error) {
    return broken(`It cannot be read: ${(error as Error).message}`);
  }
}
