import { readKnownEvent, type EventPayload } from '@vitto/contracts';
import { useEffect, useState } from 'react';
import { useVitto } from '../../api/vitto-context.tsx';
import { mergeShown, type InboxEntry } from './inbox-entry.ts';

type Decision = EventPayload<'approval.decided'>;

export interface KeptEntries {
  /** What waits, and what was settled while the page is open, each in its place. */
  shown: readonly InboxEntry[];
  /** Ids of those that still wait. */
  waiting: ReadonlySet<string>;
  /** How approvals were decided, here or elsewhere, by their id. */
  decisions: ReadonlyMap<string, Decision>;
}

/** What is settled stays where it is until the page is left: nothing moves under a finger, and the focus stays. */
export function useKeptEntries(entries: readonly InboxEntry[] | undefined): KeptEntries {
  const [known, setKnown] = useState<{ from: typeof entries; shown: readonly InboxEntry[] }>({
    from: undefined,
    shown: [],
  });
  const decisions = useDecisions();
  if (entries !== undefined && known.from !== entries)
    setKnown({ from: entries, shown: mergeShown(known.shown, entries) });
  return { shown: known.shown, waiting: new Set(entries?.map((entry) => entry.id)), decisions };
}

function useDecisions(): ReadonlyMap<string, Decision> {
  const { stream } = useVitto();
  const [decisions, setDecisions] = useState<ReadonlyMap<string, Decision>>(new Map());
  useEffect(
    () =>
      stream.subscribe({
        onEvents: (events) => {
          for (const event of events) {
            const known = event.type === 'approval.decided' ? readKnownEvent(event) : null;
            if (known?.type !== 'approval.decided') continue;
            const { payload } = known;
            setDecisions((before) => new Map(before).set(payload.approvalId, payload));
          }
        },
        onResync: () => {},
      }),
    [stream],
  );
  return decisions;
}
