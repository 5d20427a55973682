import { join } from 'node:path';
import type { VmSpec } from '../sandbox-provider.ts';
import { connectSocket } from './connect-socket.ts';
import { QemuVm } from './qemu-vm.ts';
import { QmpClient } from './qmp-client.ts';
import type { RunFolder } from './run-folder.ts';

/** A VM whose host was killed in the middle of a snapshot stands still like this, and can go on. */
const HALTED = ['paused', 'postmigrate', 'finish-migrate'];

/**
 * Takes over a VM that another process started, when all of it is there and its guest runs. One that was still booting
 * or being restored is not: what it had done is unknown.
 */
export async function adoptVm(folder: RunFolder, spec: VmSpec): Promise<QemuVm | null> {
  const record = await folder.read();
  const identity = folder.findProcess(record);
  if (record?.phase !== 'running' || identity === null) return null;
  let monitor: QmpClient | undefined;
  try {
    monitor = new QmpClient(await connectSocket(join(folder.io, 'qmp.sock'), record.uid));
    await monitor.negotiate();
    const { status } = (await monitor.execute('query-status')) as { status: string };
    if (HALTED.includes(status)) await monitor.execute('cont');
    else if (status !== 'running') throw new Error(`it is ${status}`);
    return new QemuVm({ spec, folder, uid: record.uid, identity, monitor, stages: [] });
  } catch {
    monitor?.close();
    return null;
  }
}
