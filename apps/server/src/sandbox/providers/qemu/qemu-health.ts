import { execFile } from 'node:child_process';
import { access, constants, mkdir, chmod, stat, readFile } from 'node:fs/promises';
import { release } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { ProviderHealth } from '../sandbox-provider.ts';
import type { Accelerator } from './command-line.ts';
import { replaceFile } from './durable-files.ts';
import { readBootId } from './process-identity.ts';
import type { FoundPrograms } from './qemu-programs.ts';

const run = promisify(execFile);

/** What keeps VMs from working here; `null`: nothing was found. */
export interface Obstacle {
  reason: string;
  hint: string;
}

export async function findObstacle(found: FoundPrograms, root: string): Promise<Obstacle | null> {
  if (process.platform !== 'linux') return { reason: 'VMs need Linux.', hint: 'Use the degraded mode.' };
  if (process.arch !== 'x64') {
    return {
      reason: `VMs are made for x86-64 processors; this one is ${process.arch}.`,
      hint: 'Run a sandbox host on an x86-64 machine; images, the boot ROM and the microvm machine are for that.',
    };
  }
  if (found.missing.length > 0) {
    return {
      reason: `VMs need ${found.missing.join(', ')}.`,
      hint: `Install: apt-get install ${found.packages.join(' ')}`,
    };
  }
  for (const folder of [root, join(root, 'run'), join(root, 'machines')]) {
    await mkdir(folder, { recursive: true, mode: 0o711 });
    await chmod(folder, process.getuid?.() === 0 ? 0o711 : 0o700);
  }
  const closed = process.getuid?.() === 0 ? await closedFolder(root) : null;
  if (closed === null) return null;
  return {
    reason: `The VMs' users cannot reach ${root}, for ${closed} is closed to them.`,
    hint: 'Keep the data in a folder that every user can pass through, as /var/lib/vitto.',
  };
}

/** The folder on the way to `path` that not every user may pass; `null` when there is none. */
async function closedFolder(path: string): Promise<string | null> {
  for (let folder = path; ; folder = dirname(folder)) {
    if (((await stat(folder)).mode & 0o001) === 0) return folder;
    if (folder === '/') return null;
  }
}

/** As QEMU says it: `7.2.22 (Debian …)`. @throws when it does not run. */
export async function readVersion(qemu: string): Promise<string> {
  const { stdout } = await run(qemu, ['--version'], { timeout: 10_000 });
  return /version (.+)$/m.exec(stdout)?.[1] ?? stdout.trim();
}

export interface AcceleratorChoice {
  accelerator: Accelerator;
  /** Why not KVM; `null` when it is KVM. */
  why: string | null;
}

/**
 * KVM where a guest really starts with it: there are hosts with a `/dev/kvm` on which kernels hang. `tryKvm` starts one
 * and says what went wrong, or `null`; without an image yet there is nothing to start, so KVM waits for one. The
 * outcome is kept in a file until QEMU, the host's kernel or its boot is another.
 */
export async function chooseAccelerator(
  version: string,
  cacheFile: string,
  tryKvm: (() => Promise<string | null>) | null,
): Promise<AcceleratorChoice> {
  const usable = await access('/dev/kvm', constants.R_OK | constants.W_OK).then(
    () => true,
    () => false,
  );
  if (!usable) return { accelerator: 'tcg', why: 'there is no /dev/kvm that the server may open' };
  const key = [version, release(), readBootId()].join('\n');
  const kept = await readFile(cacheFile, 'utf8').then(
    (text) => JSON.parse(text) as AcceleratorChoice & { key: string },
    () => null,
  );
  if (kept?.key === key) return { accelerator: kept.accelerator, why: kept.why };
  if (tryKvm === null) return { accelerator: 'tcg', why: 'no image is built yet to try KVM with' };
  const fault = await tryKvm();
  const choice: AcceleratorChoice =
    fault === null
      ? { accelerator: 'kvm', why: null }
      : { accelerator: 'tcg', why: `a guest did not start with KVM: ${fault}` };
  await replaceFile(cacheFile, JSON.stringify({ key, ...choice }));
  return choice;
}

/** The answer of a provider that works. */
export function healthOf(
  version: string,
  choice: AcceleratorChoice,
  host: { isRoot: boolean; hasGroups: boolean },
): ProviderHealth {
  const notices = [
    ...(choice.why === null
      ? []
      : [`VMs are emulated, about ten times slower than with KVM: ${choice.why}.`]),
    ...(host.isRoot ? [] : ["VMs run as the server's own user, for the server is not root."]),
    ...(host.hasGroups ? [] : ['No control group can be had, so what a VM takes is bounded by QEMU alone.']),
  ];
  return { available: true, accelerator: choice.accelerator, version, reason: null, hint: null, notices };
}
