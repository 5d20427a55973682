import { useCallback, useMemo, useState } from 'react';
import { toRows } from '../model/thread-rows.ts';
import type { Item } from '../model/view.ts';

/** The rows of the thread, and which of its replaced parts are open. */
export function useRows(items: readonly Item[]) {
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const rows = useMemo(() => toRows(items, opened), [items, opened]);
  const toggle = useCallback(
    (messageId: string) =>
      setOpened((before) =>
        before.has(messageId)
          ? new Set([...before].filter((one) => one !== messageId))
          : new Set([...before, messageId]),
      ),
    [],
  );
  const open = useCallback(
    (messageId: string) =>
      setOpened((before) => (before.has(messageId) ? before : new Set([...before, messageId]))),
    [],
  );
  return { rows, toggle, open };
}
