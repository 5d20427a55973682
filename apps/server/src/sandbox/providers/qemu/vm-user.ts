import { readFileSync } from 'node:fs';
import type { VmUser } from './command-line.ts';

export interface UidRange {
  first: number;
  count: number;
}

/** Above all that Debian, systemd and container managers hand out: each machine has a number of its own. */
const LARGE: UidRange = { first: 2_000_000_000, count: 100_000_000 };
/** In a container that has 65,536 numbers. */
const SMALL: UidRange = { first: 40_000, count: 20_000 };

/** The users of VMs on this host; `null`: the server is not root, so they run as itself. */
export function defaultVmUids(
  uid = process.getuid?.(),
  uidMap = readFileSync('/proc/self/uid_map', 'utf8'),
): UidRange | null {
  if (uid !== 0) return null;
  const isMapped = uidMap
    .trim()
    .split('\n')
    .some((line) => {
      const [inside = 0, , length = 0] = line.trim().split(/\s+/).map(Number);
      return inside <= LARGE.first && LARGE.first + LARGE.count <= inside + length;
    });
  return isMapped ? LARGE : SMALL;
}

export function vmUser(range: UidRange | null, userNumber: number): VmUser {
  if (range === null) return null;
  const uid = range.first + (userNumber % range.count);
  return { uid, gid: uid };
}
