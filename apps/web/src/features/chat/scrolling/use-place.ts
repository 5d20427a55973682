import { useEffect, useRef, useState } from 'react';
import type { ConversationState } from '../conversation-store.ts';
import { findRowAt, type Row } from '../model/thread-rows.ts';
import type { ConversationView } from '../model/view.ts';
import type { ThreadVirtualizer } from './use-thread-virtualizer.ts';

interface PlaceInput {
  at: number | null;
  view: ConversationView;
  rows: readonly Row[];
  older: ConversationState['older'];
  /** Opens a replaced part. */
  open: (messageId: string) => void;
  onReach: (position: number) => Promise<void>;
  virtualizer: ThreadVirtualizer;
  leaveEnd: () => void;
}

/**
 * Goes to the place that the address names, once: loads back to it, opens the part that it is in, shows it and gives it
 * the focus.
 * @returns the key of the row that was asked for.
 */
export function usePlace(input: PlaceInput): string | null {
  const { at, view, rows, older, open, onReach, virtualizer, leaveEnd } = input;
  const [found, setFound] = useState<string | null>(null);
  const done = useRef<number | null>(null);
  useEffect(() => {
    if (at === null || done.current === at || rows.length === 0) return;
    const first = view.items[0]?.position ?? 0;
    if (first > at && older !== 'none') {
      if (older === 'some') void onReach(at);
      return;
    }
    const part = view.items.findLast((item) => item.position <= at)?.replacedBy;
    if (part !== undefined) open(part);
    const index = Math.max(0, findRowAt(rows, at));
    const row = rows[index];
    if (row === undefined || (row.kind === 'earlier' && !row.isOpen)) return;
    done.current = at;
    leaveEnd();
    setFound(row.key);
    virtualizer.scrollToIndex(index, { align: 'center' });
  }, [at, view, rows, older, open, onReach, virtualizer, leaveEnd]);
  return found;
}
