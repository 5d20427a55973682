import { rm } from 'node:fs/promises';
import { ProviderError } from '../sandbox-provider.ts';
import { signalProcess, waitForEnd, type ProcessIdentity } from './process-identity.ts';
import type { RunFolder } from './run-folder.ts';

/** How long QEMU has to write out what it holds. One that is stopped or hangs is killed. */
const GRACE_MS = 2_000;
const KILL_MS = 10_000;

/** Ends a VM's process: this one and no other that may have got its number. @throws ProviderError when it cannot be ended. */
export async function stopProcess(identity: ProcessIdentity): Promise<void> {
  if (!signalProcess(identity, 'SIGTERM') || (await waitForEnd(identity, GRACE_MS))) return;
  signalProcess(identity, 'SIGKILL');
  if (await waitForEnd(identity, KILL_MS)) return;
  throw new ProviderError('start-failed', `The VM's process ${identity.pid} cannot be ended.`);
}

/** Ends the VM of a run folder, whichever host process started it, and removes the folder; of a passing one the machine, too. */
export async function stopVm(folder: RunFolder): Promise<void> {
  const record = await folder.read();
  const identity = folder.findProcess(record);
  if (identity !== null) await stopProcess(identity);
  if (record?.keeper) await rm(record.machineFolder, { recursive: true, force: true });
  await folder.remove();
}
