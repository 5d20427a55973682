import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findHierarchy, findParent, groupName, removeGroup, removeStaleGroups } from './cgroup-mounts.ts';
import { readField } from './cgroup-v1.ts';
import type { ResourceGroup, ResourceLimiter } from './resource-group.ts';

/** Limits by the unified hierarchy; `null` where no group with the memory and pids controllers can be made. */
export function findCgroupV2(): ResourceLimiter | null {
  const hierarchy = findHierarchy(null);
  const parent = hierarchy && findParent(hierarchy, hasControllers);
  if (parent === undefined) return null;
  return {
    kind: 'cgroup-v2',
    limitsProcesses: true,
    create: (name, limits) => createGroup(parent, name, limits),
    removeStale: () => removeStaleGroups(parent),
  };
}

/** Also asks the parent to pass the controllers on, which it refuses while it has processes of its own. */
function hasControllers(directory: string): boolean {
  const present = (): boolean =>
    ['memory.max', 'pids.max'].every((file) => existsSync(join(directory, file)));
  if (present()) return true;
  const available = readFileSync(join(dirname(directory), 'cgroup.controllers'), 'utf8')
    .trim()
    .split(' ');
  if (!available.includes('memory') || !available.includes('pids')) return false;
  writeFileSync(join(dirname(directory), 'cgroup.subtree_control'), '+memory +pids');
  return present();
}

function createGroup(
  parent: string,
  name: string,
  limits: { memoryBytes: number; processes: number },
): ResourceGroup {
  const directory = join(parent, groupName(name));
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'memory.max'), String(limits.memoryBytes));
  writeFileSync(join(directory, 'pids.max'), String(limits.processes));
  const swap = join(directory, 'memory.swap.max');
  if (existsSync(swap)) writeFileSync(swap, '0');
  const together = join(directory, 'memory.oom.group');
  if (existsSync(together)) writeFileSync(together, '1');
  return {
    joinFiles: [join(directory, 'cgroup.procs')],
    attach: () => undefined,
    readUsage: () => ({
      cpuMs: readField(join(directory, 'cpu.stat'), 'usage_usec') / 1000,
      isMemoryExceeded: readField(join(directory, 'memory.events'), 'oom_kill') > 0,
      isCrowded: false,
    }),
    remove: () => removeGroup(directory),
  };
}
