import { existsSync, mkdirSync, readFileSync, readdirSync, rmdirSync } from 'node:fs';
import { rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Groups of Vitto's sandboxes are named with this, so that they are known again after a crash. */
const GROUP_PREFIX = 'vitto-sandbox-';

/** Where a hierarchy is mounted and which group of it this process is in. */
export interface Hierarchy {
  mountPoint: string;
  /** Relative to the mount point, without a leading slash; empty at the root. */
  ownGroup: string;
}

/** The v1 hierarchy of one controller, or the unified one for `null`; `undefined` where it is not mounted. */
export function findHierarchy(controller: string | null): Hierarchy | undefined {
  const mounts = readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
  const own = readFileSync('/proc/self/cgroup', 'utf8').trim().split('\n');
  for (const line of mounts) {
    const [left = '', right = ''] = line.split(' - ');
    const [type = '', , options = ''] = right.split(' ');
    const isWanted =
      controller === null ? type === 'cgroup2' : type === 'cgroup' && options.split(',').includes(controller);
    if (!isWanted) continue;
    const [, , , mountRoot = '/', mountPoint = ''] = left.split(' ');
    const group = own
      .map((entry) => /^\d+:([^:]*):(.*)$/.exec(entry))
      .find((match) =>
        controller === null ? match?.[1] === '' : match?.[1]?.split(',').includes(controller),
      )?.[2];
    return { mountPoint, ownGroup: relativeGroup(group ?? '/', mountRoot) };
  }
  return undefined;
}

function relativeGroup(group: string, mountRoot: string): string {
  const inside = mountRoot !== '/' && group.startsWith(mountRoot) ? group.slice(mountRoot.length) : group;
  return inside.replace(/^\/+/, '').includes('..') ? '' : inside.replace(/^\/+/, '');
}

/** The own group first, so that limits set on this server hold for its sandboxes too, then its ancestors. */
export function candidateParents({ mountPoint, ownGroup }: Hierarchy): string[] {
  const parents: string[] = [];
  for (let group = ownGroup; group !== '' && group !== '.'; group = dirname(group))
    parents.push(join(mountPoint, group));
  return [...parents, mountPoint];
}

/** The first parent under which a group can be made that passes `check`; the trial group is removed. */
export function findParent(hierarchy: Hierarchy, check: (directory: string) => boolean): string | undefined {
  return candidateParents(hierarchy).find((parent) => {
    const trial = join(parent, groupName('trial'));
    try {
      mkdirSync(trial);
    } catch {
      return false;
    }
    try {
      return check(trial);
    } catch {
      return false;
    } finally {
      removeNow(trial);
    }
  });
}

/** Removes a group whose processes have ended; the kernel may hold it for a moment longer. */
export async function removeGroup(directory: string): Promise<void> {
  for (let attempt = 0; attempt < 50; attempt += 1) {
    try {
      await rmdir(directory);
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EBUSY') return;
      await sleep(20);
    }
  }
}

/** A name for a group that tells whose it is. */
export function groupName(name: string): string {
  return `${GROUP_PREFIX}${process.pid}-${name}`;
}

/** Removes the groups of servers that are gone. One that still has processes stays. */
export function removeStaleGroups(parent: string): void {
  for (const name of readdirSync(parent)) {
    const pid = name.startsWith(GROUP_PREFIX) ? /^\d+/.exec(name.slice(GROUP_PREFIX.length))?.[0] : undefined;
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) removeNow(join(parent, name));
  }
}

function removeNow(directory: string): void {
  try {
    rmdirSync(directory);
  } catch {
    // In use, or gone already.
  }
}
