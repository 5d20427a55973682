import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findHierarchy, findParent, groupName, removeGroup, removeStaleGroups } from './cgroup-mounts.ts';
import { cpuMsOf, readTree, watchCrowd } from './process-tree.ts';
import type { ResourceGroup, ResourceLimiter } from './resource-group.ts';

/** Limits by the memory controller of cgroup v1, with pids and cpuacct where they can be had; `null` where memory cannot. */
export function findCgroupV1(): ResourceLimiter | null {
  const memory = parentFor('memory', 'memory.limit_in_bytes');
  if (memory === undefined) return null;
  const pids = parentFor('pids', 'pids.max');
  const cpu = parentFor('cpuacct', 'cpuacct.usage');
  return {
    kind: 'cgroup-v1',
    limitsProcesses: pids !== undefined,
    create: (name, limits) => createGroup({ memory, pids, cpu }, name, limits),
    removeStale: () => {
      for (const parent of [memory, pids, cpu]) if (parent !== undefined) removeStaleGroups(parent);
    },
  };
}

function parentFor(controller: string, file: string): string | undefined {
  const hierarchy = findHierarchy(controller);
  return hierarchy && findParent(hierarchy, (directory) => existsSync(join(directory, file)));
}

function createGroup(
  parents: { memory: string; pids: string | undefined; cpu: string | undefined },
  name: string,
  limits: { memoryBytes: number; processes: number },
): ResourceGroup {
  const make = (parent: string): string => {
    const directory = join(parent, groupName(name));
    mkdirSync(directory, { recursive: true });
    return directory;
  };
  const memory = make(parents.memory);
  const pids = parents.pids === undefined ? undefined : make(parents.pids);
  const cpu = parents.cpu === undefined ? undefined : make(parents.cpu);
  writeFileSync(join(memory, 'memory.limit_in_bytes'), String(limits.memoryBytes));
  // Present only where swap is accounted: without it a hog would swap instead of ending.
  const withSwap = join(memory, 'memory.memsw.limit_in_bytes');
  if (existsSync(withSwap)) writeFileSync(withSwap, String(limits.memoryBytes));
  if (pids !== undefined) writeFileSync(join(pids, 'pids.max'), String(limits.processes));
  const directories = [...new Set([memory, pids, cpu].filter((directory) => directory !== undefined))];
  let rootPid: number | undefined;
  const isCrowded = watchCrowd(limits.processes);
  return {
    joinFiles: directories.map((directory) => join(directory, 'cgroup.procs')),
    attach: (pid) => (rootPid = pid),
    readUsage: () => {
      const tree = cpu === undefined || pids === undefined ? readTree(rootPid) : [];
      return {
        cpuMs: cpu === undefined ? cpuMsOf(tree) : readNumber(join(cpu, 'cpuacct.usage')) / 1e6,
        isMemoryExceeded: readField(join(memory, 'memory.oom_control'), 'oom_kill') > 0,
        isCrowded: pids === undefined && isCrowded(tree),
      };
    },
    remove: async () => void (await Promise.all(directories.map(removeGroup))),
  };
}

function readNumber(file: string): number {
  try {
    return Number(readFileSync(file, 'utf8'));
  } catch {
    return 0;
  }
}

/** One value of a file of `name value` lines; 0 where it cannot be read. */
export function readField(file: string, field: string): number {
  try {
    return Number(new RegExp(`^${field} (\\d+)$`, 'm').exec(readFileSync(file, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
