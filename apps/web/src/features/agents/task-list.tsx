import { useVirtualizer } from '@tanstack/react-virtual';
import { useCallback, useEffect, useRef, useSyncExternalStore, type RefObject } from 'react';
import { Button } from '../../components/button.tsx';
import { useFeatureStrings } from '../../i18n/define-strings.ts';
import { useStrings } from '../../i18n/strings-context.tsx';
import { AgentRow } from './agent-row.tsx';
import type { AgentRow as Row, TaskRow } from './model/agent-rows.ts';
import type { LiveTasks } from './model/live-tasks.ts';
import { agentsStrings } from './strings.ts';

/** From this width of the list on, its rows have columns: as in `COLUMNS`. */
const WIDE_PX = 768;
const HEADING_PX = 40;
const ROW_PX = { wide: 52, narrow: 76 };

interface TaskListProps {
  rows: readonly Row[];
  calls: LiveTasks['calls'];
  scroller: RefObject<HTMLDivElement | null>;
  onToggle: (row: TaskRow) => void;
}

/** The rows in sight of however many there are. Rows have one height, so nothing moves while values change. */
export function TaskList({ rows, calls, scroller, onToggle }: TaskListProps) {
  const list = useRef<HTMLUListElement>(null);
  const isWide = useIsWide(list);
  const rowPx = isWide ? ROW_PX.wide : ROW_PX.narrow;
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => (rows[index]?.kind === 'heading' ? HEADING_PX : rowPx),
    getItemKey: (index) => rows[index]?.key ?? index,
    overscan: 6,
  });
  useEffect(() => virtual.measure(), [virtual, rowPx]);
  return (
    <ul ref={list} className="relative" style={{ height: virtual.getTotalSize() }} data-count={rows.length}>
      {virtual.getVirtualItems().map((item) => {
        const row = rows[item.index];
        if (row === undefined) return null;
        return (
          <li
            key={row.key}
            className="absolute inset-x-0 top-0"
            style={{ height: item.size, transform: `translateY(${item.start}px)` }}
          >
            {row.kind === 'heading' ? (
              <Heading row={row} />
            ) : (
              <AgentRow
                task={row.task}
                level={row.level}
                isOpen={row.isOpen}
                call={calls.get(row.task.id)}
                onToggle={onToggle}
              />
            )}
          </li>
        );
      })}
    </ul>
  );
}

function Heading({ row }: { row: Extract<Row, { kind: 'heading' }> }) {
  const strings = useFeatureStrings(agentsStrings);
  return (
    <h2 className="flex h-full items-end gap-2 px-2 pb-1.5 text-xs font-medium text-muted">
      {strings.parts[row.part]} <span className="tabular">{row.count}</span>
    </h2>
  );
}

function useIsWide(list: RefObject<HTMLElement | null>): boolean {
  const follow = useCallback(
    (onChange: () => void) => {
      const observer = new ResizeObserver(onChange);
      if (list.current !== null) observer.observe(list.current);
      return () => observer.disconnect();
    },
    [list],
  );
  return useSyncExternalStore(follow, () => (list.current?.clientWidth ?? 0) >= WIDE_PX);
}

/** More of what has ended, a page at a time. */
export function OlderButton({
  state,
  onMore,
}: {
  state: 'some' | 'loading' | 'none' | 'error';
  onMore: () => void;
}) {
  const strings = useFeatureStrings(agentsStrings);
  const shared = useStrings();
  if (state === 'none') return null;
  return (
    <Button look="quiet" className="mt-3 w-full" disabled={state === 'loading'} onClick={onMore}>
      {state === 'loading' ? strings.loading : state === 'error' ? shared.app.retry : strings.more}
    </Button>
  );
}
