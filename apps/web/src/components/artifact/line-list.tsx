import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef } from 'react';
import { useStrings } from '../../i18n/strings-context.tsx';
import type { DiffMark } from './read-diff.ts';
import type { TextLine } from './split-lines.ts';

/** Height of a line, in pixels; lines are not wrapped, so all have it. */
const LINE_HEIGHT = 20;
/** So many lines before the end of what is here, more is asked for. */
const READ_AHEAD = 200;

const LOOKS: Record<DiffMark, string> = {
  added: 'bg-green-soft text-green',
  removed: 'bg-red-soft text-red',
  hunk: 'text-accent',
  file: 'font-semibold',
  same: '',
};

interface LineListProps {
  lines: readonly TextLine[];
  /** Of a diff: what each line is. */
  marks?: readonly DiffMark[];
  label: string;
  /** Called when somebody comes near to the end of the lines. */
  onNearEnd?: () => void;
}

/** Lines of text with their numbers; only those in sight are in the page. */
export function LineList({ lines, marks, label, onNearEnd }: LineListProps) {
  const strings = useStrings();
  const frame = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer({
    count: lines.length,
    getScrollElement: () => frame.current,
    estimateSize: () => LINE_HEIGHT,
    overscan: 20,
    paddingStart: 8,
    paddingEnd: 8,
  });
  const shown = virtualizer.getVirtualItems();
  const last = shown.at(-1)?.index ?? 0;
  useEffect(() => {
    if (last >= lines.length - READ_AHEAD) onNearEnd?.();
  }, [last, lines.length, onNearEnd]);
  const digits = String(lines.at(-1)?.number ?? lines.length).length;

  return (
    <div
      ref={frame}
      tabIndex={0}
      role="group"
      aria-label={label}
      dir="ltr"
      className="mono min-h-0 flex-1 overflow-auto bg-sunken focus-visible:outline-offset-[-2px]"
    >
      <div className="relative" style={{ height: virtualizer.getTotalSize() }}>
        {shown.map(({ index, start }) => {
          const line = lines[index];
          if (line === undefined) return null;
          const mark = marks?.[index] ?? 'same';
          return (
            <div
              key={index}
              className={`absolute start-0 flex w-max min-w-full whitespace-pre ${LOOKS[mark]}`}
              style={{ top: start, height: LINE_HEIGHT }}
            >
              <span
                aria-hidden="true"
                className="tabular sticky start-0 shrink-0 border-e border-line bg-sunken px-2 text-end text-muted select-none"
                style={{ minWidth: `calc(${digits}ch + 1rem)` }}
              >
                {line.number}
              </span>
              {(mark === 'added' || mark === 'removed') && (
                <span className="sr-only">{strings.artifact[mark]}: </span>
              )}
              <span className="px-3">{line.text.toWellFormed()}</span>
              {line.goesOn && (
                <span className="pe-3 text-muted select-none" title={strings.artifact.lineGoesOn}>
                  ⏎
                </span>
              )}
            </div>
          );
        })}
      </div>
    </div>
  );
}
