import { memo, useEffect, useRef } from 'react';
import { KeptPart } from '../../../components/kept-state.tsx';
import { Icon } from '../../../components/icon.tsx';
import { useStrings } from '../../../i18n/strings-context.tsx';
import type { Row } from '../model/thread-rows.ts';
import { ThreadItem } from './thread-item.tsx';

interface ThreadRowProps {
  row: Row;
  index: number;
  /** Of all rows; -1 while it is not known. */
  total: number;
  /** The address names this one. */
  isFound: boolean;
  measure: (element: HTMLLIElement | null) => void;
  onToggle: (messageId: string) => void;
}

/** A row at its place in the list. Its content is drawn again only when it has changed. */
export const ThreadRow = memo(function ThreadRow(props: ThreadRowProps) {
  const { row, index, total, isFound, measure, onToggle } = props;
  const isAside = row.kind === 'item' && row.item.replacedBy !== undefined;
  const element = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (isFound) element.current?.focus({ preventScroll: true });
  }, [isFound]);
  return (
    <li
      ref={(node) => {
        element.current = node;
        measure(node);
      }}
      data-index={index}
      data-key={row.key}
      tabIndex={isFound ? -1 : undefined}
      aria-posinset={index + 1}
      aria-setsize={total}
      className={`absolute inset-x-0 grid min-w-0 grid-cols-[minmax(0,1fr)] ${isAside ? 'border-s-2 border-line ps-3' : ''} ${isFound ? 'rounded-lg outline-2 outline-offset-4 outline-accent' : ''}`}
    >
      {row.kind === 'item' ? (
        <KeptPart name={row.key}>
          <ThreadItem item={row.item} />
        </KeptPart>
      ) : (
        <EarlierVersion isOpen={row.isOpen} onToggle={() => onToggle(row.messageId)} />
      )}
    </li>
  );
}, isSameRow);

function isSameRow(before: ThreadRowProps, after: ThreadRowProps): boolean {
  const isSameContent =
    before.row.kind === 'item' && after.row.kind === 'item'
      ? before.row.item === after.row.item
      : before.row.key === after.row.key &&
        before.row.kind === 'earlier' &&
        after.row.kind === 'earlier' &&
        before.row.isOpen === after.row.isOpen;
  return (
    isSameContent &&
    before.index === after.index &&
    before.total === after.total &&
    before.isFound === after.isFound
  );
}

/** What was replaced, folded into one line. */
function EarlierVersion({ isOpen, onToggle }: { isOpen: boolean; onToggle: () => void }) {
  const strings = useStrings();
  return (
    <button
      type="button"
      aria-expanded={isOpen}
      onClick={onToggle}
      className="inline-flex min-h-8 items-center gap-1.5 justify-self-start text-sm text-muted hover:text-ink"
    >
      <Icon name="chevron" className={`size-3.5 transition-transform ${isOpen ? 'rotate-90' : ''}`} />
      {strings.thread.earlierVersion}
    </button>
  );
}
