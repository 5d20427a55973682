import { readdirSync, readFileSync } from 'node:fs';
import type { ResourceGroup, ResourceLimiter } from './resource-group.ts';

/** Linux reports process times in these on every architecture (USER_HZ). */
const TICKS_PER_SECOND = 100;
/** As large as pages get on this architecture: what they give is an upper bound. */
const PAGE_BYTES = process.arch === 'x64' ? 4096 : 64 * 1024;
/** A fork bomb is not at the limit at each look; so many looks in a row must find room before it counts as over. */
const LOOKS_WITH_ROOM = 5;
/** How long a tree may sit there. A build that starts many at once passes through; a fork bomb stays. */
const CROWDED_MS = 3_000;

/**
 * The fallback where no control group can be had: the tree below the sandbox's first process is read from /proc a
 * few times a second. Memory is what is the processes' own (anonymous and shared-memory pages), so shared libraries
 * count once at most; pages that a fork shares with its parent count twice. The rlimit that bounds processes here lets a
 * fork bomb go on as fast as its processes die, in a tree too large to be counted well, so it is ended for that.
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
      const isCrowded = watchCrowd(limits.processes);
      return {
        joinFiles: [],
        attach: (pid) => (rootPid = pid),
        readUsage: () => {
          const tree = readTree(rootPid);
          cpuMs = Math.max(cpuMs, cpuMsOf(tree));
          isMemoryExceeded ||= isOver(tree, limits.memoryBytes);
          return { cpuMs, isMemoryExceeded, isCrowded: isCrowded(tree) };
        },
        remove: async () => undefined,
      };
    },
  };
}

/** A process as /proc has it. */
interface SeenProcess {
  pid: number;
  cpuMs: number;
  threads: number;
  residentPages: number;
}

/**
 * A function to be told the tree several times a second: true once it has been at its limit of processes for some
 * seconds. It is there when most of the limit is taken, or, as processes that die while they are counted are missed,
 * when half of it is and most of those are new since the last look.
 */
export function watchCrowd(
  limit: number,
  now: () => number = () => performance.now(),
): (tree: Pick<SeenProcess, 'pid' | 'threads'>[]) => boolean {
  let since: number | null = null;
  let looksWithRoom = 0;
  let known = new Set<number>();
  return (tree) => {
    const count = tree.reduce((sum, { threads }) => sum + threads, 0);
    const added = tree.filter(({ pid }) => !known.has(pid)).length;
    known = new Set(tree.map(({ pid }) => pid));
    const isAtLimit = count >= limit * 0.9 || (count >= limit / 2 && added >= tree.length / 2);
    looksWithRoom = isAtLimit ? 0 : looksWithRoom + 1;
    if (looksWithRoom >= LOOKS_WITH_ROOM) since = null;
    else if (isAtLimit) since ??= now();
    return isAtLimit && since !== null && now() - since >= CROWDED_MS;
  };
}

/** Processor time of the tree, that of children that were waited for included. */
export function cpuMsOf(tree: SeenProcess[]): number {
  return tree.reduce((sum, { cpuMs }) => sum + cpuMs, 0);
}

/** A process and all below it, each of the machine's processes read once. */
export function readTree(rootPid: number | undefined): SeenProcess[] {
  if (rootPid === undefined) return [];
  const children = new Map<number, SeenProcess[]>();
  let root: SeenProcess | undefined;
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    const fields = Number.isInteger(pid) ? readStat(pid) : null;
    if (fields === null) continue;
    const field = (index: number): number => Number(fields[index] ?? 0);
    const ticks = field(11) + field(12) + field(13) + field(14);
    const seen = {
      pid,
      cpuMs: (ticks * 1000) / TICKS_PER_SECOND,
      threads: field(17),
      residentPages: field(21),
    };
    if (pid === rootPid) root = seen;
    const siblings = children.get(field(1));
    if (siblings === undefined) children.set(field(1), [seen]);
    else siblings.push(seen);
  }
  const tree = root === undefined ? [] : [root];
  for (const { pid } of tree) tree.push(...(children.get(pid) ?? []));
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

/** Exact memory is dear to read, so it is read only where the bound that is at hand does not say that there is room. */
function isOver(tree: SeenProcess[], memoryBytes: number): boolean {
  const atMost = tree.reduce((sum, { residentPages }) => sum + residentPages * PAGE_BYTES, 0);
  if (atMost <= memoryBytes) return false;
  let bytes = 0;
  return tree.some(({ pid }) => (bytes += ownMemory(pid)) > memoryBytes);
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
