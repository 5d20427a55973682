import { stat } from 'node:fs/promises';
import type { MachineFiles, MachineRecord } from './machine-files.ts';
import type { QmpClient } from './qmp-client.ts';

/** Each snapshot adds a layer to a disk; a deeper one is flattened when its machine is suspended. */
const MAX_LAYERS = 3;
const FLATTEN_MS = 600_000;

/**
 * The disk's layers once QEMU has copied what is in the middle ones into the top one. The layers below stay as they are
 * and the top one only comes to hold what it showed anyway, so a crash at any moment leaves a disk and the older
 * snapshot. When it cannot be done, for want of space say, the disk stays deep, and the next snapshot tries again.
 */
export async function flattenDisk(
  monitor: QmpClient,
  files: MachineFiles,
  { overlays }: MachineRecord,
): Promise<string[]> {
  if (overlays.length <= MAX_LAYERS) return overlays;
  const [lowest = '', ...others] = overlays;
  // The first layer is the largest as a rule: it is copied only when the others have grown to half of it.
  const [first = 0, ...sizes] = await Promise.all(
    overlays.map(async (name) => (await stat(files.disk(name))).size),
  );
  const isKept = first > 2 * sizes.reduce((sum, size) => sum + size, 0);
  const done = monitor.waitFor(
    (event, data) => event === 'BLOCK_JOB_COMPLETED' && data['device'] === 'flatten',
    FLATTEN_MS,
  );
  try {
    const base = isKept ? 'layer0' : 'image';
    await monitor.execute('block-stream', { 'job-id': 'flatten', device: 'disk', 'base-node': base });
    const { error } = await done.event;
    if (error !== undefined) return overlays;
  } catch {
    return overlays;
  } finally {
    done.cancel();
  }
  const top = others.at(-1) ?? lowest;
  return isKept ? [lowest, top] : [top];
}
