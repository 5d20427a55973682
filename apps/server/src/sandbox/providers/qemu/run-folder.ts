import { readdirSync } from 'node:fs';
import { chmod, chown, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { VmSpec } from '../sandbox-provider.ts';
import type { VmUser } from './command-line.ts';
import { identify, isAlive, readArguments, type ProcessIdentity } from './process-identity.ts';

/** Ids are names of folders. */
export const isVmId = (text: string): boolean => /^[A-Za-z0-9][A-Za-z0-9-]{0,63}$/.test(text);

const processIdentity = z.object({ pid: z.number().int(), startTime: z.string(), bootId: z.string() });
const runRecord = z.object({
  machineFolder: z.string(),
  uid: z.number().int(),
  process: processIdentity.nullable(),
  /** Of a passing VM: the process that started it, and with which it goes, its machine too. */
  keeper: processIdentity.nullable().default(null),
  /** `running`: the guest's own time passes. Before that it may be only half there. */
  phase: z.enum(['starting', 'running']),
});
export type RunRecord = z.infer<typeof runRecord>;

/**
 * The folder of one running VM, below `run/`. It and the record belong to the server; only `io/` belongs to the VM's
 * user, so that a QEMU that was taken over cannot put other files in the place of ours.
 */
export class RunFolder {
  readonly vmId: string;
  readonly path: string;
  constructor(root: string, vmId: string) {
    if (!isVmId(vmId)) throw new Error(`not an id of a VM: ${vmId}`);
    this.vmId = vmId;
    this.path = join(root, vmId);
  }
  /** Where QEMU runs and makes its sockets. */
  get io(): string {
    return join(this.path, 'io');
  }
  get memory(): string {
    return join(this.path, 'ram');
  }

  async make(user: VmUser): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
    await makeFolder(this.path, user, 'passed');
    await makeFolder(this.io, user, 'owned');
  }

  newRecord(spec: VmSpec, user: VmUser): RunRecord {
    const uid = user?.uid ?? process.getuid?.() ?? 0;
    const keeper = spec.isPassing ? identify(process.pid) : null;
    return { machineFolder: spec.machineFolder, uid, process: null, keeper, phase: 'starting' };
  }

  /** Not put on the disk at once: when the host loses power, its VMs are gone too. */
  async write(record: RunRecord): Promise<void> {
    const path = join(this.path, 'vm.json');
    await writeFile(`${path}.new`, JSON.stringify(record), { mode: 0o600 });
    await rename(`${path}.new`, path);
  }

  async read(): Promise<RunRecord | null> {
    try {
      return runRecord.parse(JSON.parse(await readFile(join(this.path, 'vm.json'), 'utf8')));
    } catch {
      return null;
    }
  }

  /**
   * Its process, when it runs. A host that was killed between starting it and writing its number down left none: then
   * it is looked for by the VM's id in its arguments and its user.
   */
  findProcess(record: RunRecord | null): ProcessIdentity | null {
    const known = record?.process;
    if (known) return isAlive(known) && this.#isOurs(known.pid) ? known : null;
    for (const name of readdirSync('/proc')) {
      const found = /^\d+$/.test(name) && this.#isOurs(Number(name)) ? identify(Number(name)) : null;
      if (found !== null && isAlive(found)) return found;
    }
    return null;
  }

  #isOurs(pid: number): boolean {
    const found = readArguments(pid);
    const at = found.indexOf('-name');
    return (
      at > 0 && found[at + 1] === `guest=vitto-${this.vmId},process=vitto-vm` && found.includes('-sandbox')
    );
  }

  async remove(): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
  }
}

/** A folder that the VM's user may pass through (to files whose names it was told), or that is its own. */
export async function makeFolder(path: string, user: VmUser, how: 'passed' | 'owned'): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  if (user === null) return;
  if (how === 'owned') return chown(path, user.uid, user.gid);
  await chown(path, 0, user.gid);
  await chmod(path, 0o710);
}
