import { readdirSync, readFileSync } from 'node:fs';
import type { ResourceGroup, ResourceLimiter } from './resource-group.ts';

/** Linux reports process times in these on every architecture (USER_HZ). */
const TICKS_PER_SECOND = 100;

/**
 * The fallback where no control group can be had: the tree below the sandbox's first process is read from /proc a
 * few times a second. Memory is what is the processes' own (anonymous and shared-memory pages), so shared libraries
 * count once at most; pages that a fork shares with its parent count twice.
 */
export function watchProcessTree(): ResourceLimiter {
  return {
    kind: 'watchdog',
    limitsProcesses: false,
    removeStale: () => undefined,
    create: (_name, limits): ResourceGroup => {
      let rootPid: number | undefined;
      let cpuMs = 0;
      let isMemoryExceeded = false;
      return {
        joinFiles: [],
        attach: (pid) => (rootPid = pid),
        readUsage: () => {
          const usage = readTreeUsage(rootPid);
          cpuMs = Math.max(cpuMs, usage.cpuMs);
          isMemoryExceeded ||= usage.memoryBytes > limits.memoryBytes;
          return { cpuMs, isMemoryExceeded };
        },
        remove: async () => undefined,
      };
    },
  };
}

/** Processor time (children that were waited for included) and own memory of a process and all below it. */
export function readTreeUsage(rootPid: number | undefined): { cpuMs: number; memoryBytes: number } {
  const total = { cpuMs: 0, memoryBytes: 0 };
  if (rootPid === undefined) return total;
  for (const pid of treeOf(rootPid)) {
    const fields = readStat(pid);
    if (fields === null) continue;
    const ticks = [11, 12, 13, 14].reduce((sum, index) => sum + Number(fields[index] ?? 0), 0);
    total.cpuMs += (ticks * 1000) / TICKS_PER_SECOND;
    total.memoryBytes += ownMemory(pid);
  }
  return total;
}

function treeOf(rootPid: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    const parent = Number(readStat(pid)?.[1] ?? 0);
    children.set(parent, [...(children.get(parent) ?? []), pid]);
  }
  const tree = [rootPid];
  for (const pid of tree) tree.push(...(children.get(pid) ?? []));
  return tree;
}

/** The fields of /proc/PID/stat after the command's name: state, parent, …; `null` when it has ended. */
function readStat(pid: number): string[] | null {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return line.slice(line.lastIndexOf(')') + 2).split(' ');
  } catch {
    return null;
  }
}

function ownMemory(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1');
    const kilobytes = (name: string): number =>
      Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0);
    return (kilobytes('RssAnon') + kilobytes('RssShmem')) * 1024;
  } catch {
    return 0;
  }
}
