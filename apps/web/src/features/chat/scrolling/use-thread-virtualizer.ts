import { defaultRangeExtractor, useVirtualizer, type Range } from '@tanstack/react-virtual';
import { useCallback, useRef, type FocusEvent, type RefObject } from 'react';
import { estimateHeight, type Row } from '../model/thread-rows.ts';

/** As near to the end as this counts as being there, in pixels. */
export const NEAR_END = 80;
/** Rows beyond the edges that are in the page: the keyboard finds the next one there. */
const OVERSCAN = 6;

export type ThreadVirtualizer = ReturnType<typeof useThreadVirtualizer>['virtualizer'];

/**
 * Which rows are in the page. The row that has the focus stays there wherever one scrolls, so the keyboard goes on from
 * it. When rows come in above, what is read stays where it is; who follows the end has it in sight.
 */
export function useThreadVirtualizer(
  rows: readonly Row[],
  scroller: RefObject<HTMLDivElement | null>,
  isFollowing: RefObject<boolean>,
) {
  const focused = useRef<string | null>(null);
  const current = useRef(rows);
  current.current = rows;
  const rangeExtractor = useCallback(
    (range: Range) => withFocused(range, current.current, focused.current),
    [],
  );
  const getItemKey = useCallback((index: number) => rows[index]?.key ?? index, [rows]);
  const virtualizer = useVirtualizer<HTMLDivElement, HTMLLIElement>({
    count: rows.length,
    getScrollElement: () => scroller.current,
    getItemKey,
    estimateSize: (index) => (rows[index] === undefined ? 0 : estimateHeight(rows[index])),
    rangeExtractor,
    overscan: OVERSCAN,
    gap: 16,
    paddingStart: 48,
    paddingEnd: 24,
    scrollPaddingStart: 48,
    anchorTo: 'end',
    followOnAppend: true,
    scrollEndThreshold: NEAR_END,
    directDomUpdates: true,
    directDomUpdatesMode: 'position',
    onChange: useStayAtEnd(scroller, isFollowing),
  });
  const keepFocused = {
    onFocus: (event: FocusEvent<HTMLElement>) => {
      focused.current = event.target.closest('li[data-key]')?.getAttribute('data-key') ?? null;
    },
    onBlur: () => {
      focused.current = null;
    },
  };
  return { virtualizer, keepFocused };
}

/**
 * In the frame in which a row has grown, before it is painted: the virtualizer makes up for one row, not for several
 * that change together with the window, as at the end of a task.
 */
function useStayAtEnd(scroller: RefObject<HTMLDivElement | null>, isFollowing: RefObject<boolean>) {
  const lastSize = useRef(0);
  return useCallback(
    (virtualizer: { getTotalSize: () => number }) => {
      const size = virtualizer.getTotalSize();
      const element = scroller.current;
      if (size !== lastSize.current && isFollowing.current && element !== null)
        element.scrollTop = element.scrollHeight;
      lastSize.current = size;
    },
    [scroller, isFollowing],
  );
}

function withFocused(range: Range, rows: readonly Row[], key: string | null): number[] {
  const shown = defaultRangeExtractor(range);
  const at = key === null ? -1 : rows.findIndex((row) => row.key === key);
  if (at === -1 || shown.includes(at)) return shown;
  return at < (shown[0] ?? 0) ? [at, ...shown] : [...shown, at];
}
