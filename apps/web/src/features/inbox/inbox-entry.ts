import type { Approval, Task } from '@vitto/contracts';
import { serverNow } from '../../api/server-clock.ts';

interface EntryBase {
  id: string;
  taskId: string;
  /** Since when it waits, as well as it is known. */
  at: string;
}

/** One thing that waits for the person. */
export type InboxEntry =
  | (EntryBase & { kind: 'approval'; approval: Approval })
  | (EntryBase & {
      kind: 'question';
      task: Task;
      callId: string;
      question: string;
      choices: readonly string[];
    });

/** What expires within this many milliseconds comes before everything else. */
export const URGENT_MS = 3_600_000;

/** What expires soon first, the nearest end first; then the newest. */
export function orderEntries(entries: readonly InboxEntry[], now = serverNow()): InboxEntry[] {
  const rank = (entry: InboxEntry) => {
    if (entry.kind !== 'approval') return Number.POSITIVE_INFINITY;
    const left = Date.parse(entry.approval.expiresAt) - now;
    return left < URGENT_MS ? left : Number.POSITIVE_INFINITY;
  };
  return [...entries].sort((a, b) => {
    const [first, second] = [rank(a), rank(b)];
    return first === second ? Date.parse(b.at) - Date.parse(a.at) : first - second;
  });
}

/** New ones come first, in their order; what is shown already keeps its place, settled or not. */
export function mergeShown(
  shown: readonly InboxEntry[],
  entries: readonly InboxEntry[],
): readonly InboxEntry[] {
  const known = new Set(shown.map((entry) => entry.id));
  const now = new Map(entries.map((entry) => [entry.id, entry]));
  const fresh = entries.filter((entry) => !known.has(entry.id));
  return [...fresh, ...shown.map((entry) => now.get(entry.id) ?? entry)];
}
