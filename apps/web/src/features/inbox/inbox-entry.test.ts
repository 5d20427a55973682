import type { Approval } from '@vitto/contracts';
import { describe, expect, it } from 'vitest';
import { mergeShown, orderEntries, type InboxEntry } from './inbox-entry.ts';

const NOW = Date.parse('2026-03-01T10:00:00Z');
const entry = (id: string, minutesAgo: number, minutesLeft: number): InboxEntry => ({
  kind: 'approval',
  id,
  taskId: id,
  at: new Date(NOW - minutesAgo * 60_000).toISOString(),
  approval: { expiresAt: new Date(NOW + minutesLeft * 60_000).toISOString() } as Approval,
});
const ids = (entries: readonly InboxEntry[]) => entries.map((one) => one.id);

describe('the inbox', () => {
  it('begins with what expires within the hour, the nearest first, then the newest', () => {
    const entries = [entry('old', 90, 500), entry('soon', 50, 30), entry('new', 1, 500), entry('next', 2, 5)];
    expect(ids(orderEntries(entries, NOW))).toEqual(['next', 'soon', 'new', 'old']);
  });

  it('moves nothing that is shown when something comes or is settled', () => {
    const shown = [entry('a', 1, 500), entry('b', 2, 500)];
    expect(ids(mergeShown(shown, [entry('c', 0, 500), entry('b', 2, 500)]))).toEqual(['c', 'a', 'b']);
  });
});
