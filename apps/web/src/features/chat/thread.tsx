import { useCallback, useMemo, useRef } from 'react';
import { Button } from '../../components/button.tsx';
import { Icon } from '../../components/icon.tsx';
import { KeptState } from '../../components/kept-state.tsx';
import { useStrings } from '../../i18n/strings-context.tsx';
import type { ConversationState } from './conversation-store.ts';
import { ThreadRow } from './items/thread-row.tsx';
import { isPartial } from './model/agents-item.ts';
import type { ConversationView } from './model/view.ts';
import { useEarlier } from './scrolling/use-earlier.ts';
import { useFollowEnd } from './scrolling/use-follow-end.ts';
import { usePlace } from './scrolling/use-place.ts';
import { useRows } from './scrolling/use-rows.ts';
import { useThreadVirtualizer } from './scrolling/use-thread-virtualizer.ts';

interface ThreadProps {
  view: ConversationView;
  older: ConversationState['older'];
  onOlder: () => Promise<void>;
  /** Loads back to a position of the journal. */
  onReach: (position: number) => Promise<void>;
  /** The position that the address names. */
  at: number | null;
}

/** The conversation as a document. Only what is in sight is in the page; its end stays in sight while it grows. */
export function Thread({ view, older, onOlder, onReach, at }: ThreadProps) {
  const strings = useStrings();
  const scroller = useRef<HTMLDivElement>(null);
  const { rows, toggle, open } = useRows(view.items);
  const isFollowing = useRef(at === null);
  const { virtualizer, keepFocused } = useThreadVirtualizer(rows, scroller, isFollowing);
  const follow = useFollowEnd(scroller, virtualizer, rows, isFollowing);
  const isCut = useMemo(() => view.items.some(isPartial), [view.items]);
  const loadIfNear = useEarlier(scroller, older, onOlder, isFollowing, isCut);
  const found = usePlace({ at, view, rows, older, open, onReach, virtualizer, leaveEnd: follow.leaveEnd });
  const { onScroll: onFollow } = follow;
  const onScroll = useCallback(() => {
    onFollow();
    loadIfNear();
  }, [onFollow, loadIfNear]);

  return (
    <div className="relative min-h-0 flex-1">
      <section
        ref={scroller}
        aria-label={strings.thread.label}
        tabIndex={0}
        onScroll={onScroll}
        className="h-full overflow-y-auto focus-visible:outline-offset-[-2px] [overflow-anchor:none]"
      >
        <div className="relative mx-auto w-full max-w-3xl px-4">
          {older !== 'none' && <Earlier state={older} onShow={() => void onOlder()} />}
          {view.items.length === 0 && <p className="pt-6 text-muted">{strings.thread.nothing}</p>}
          <KeptState>
            <ol ref={virtualizer.containerRef} className="relative" {...keepFocused}>
              {virtualizer.getVirtualItems().map(({ index, key }) => {
                const row = rows[index];
                return row === undefined ? null : (
                  <ThreadRow
                    key={key}
                    row={row}
                    index={index}
                    total={older === 'none' ? rows.length : -1}
                    isFound={row.key === found}
                    measure={virtualizer.measureElement}
                    onToggle={toggle}
                  />
                );
              })}
            </ol>
          </KeptState>
        </div>
      </section>
      {!follow.isAtEnd && (
        <Button className="absolute inset-x-0 bottom-2 mx-auto w-fit shadow-md" onClick={follow.goToEnd}>
          <Icon name="down" />
          {strings.thread.latest}
        </Button>
      )}
    </div>
  );
}

/** In the room above the first row. */
function Earlier({ state, onShow }: { state: 'some' | 'loading' | 'error'; onShow: () => void }) {
  const strings = useStrings();
  return (
    <div className="absolute inset-x-0 top-2 z-1 text-center text-muted" role="status">
      {state === 'loading' ? (
        strings.thread.loadingEarlier
      ) : (
        <Button look="quiet" onClick={onShow}>
          {state === 'error' ? strings.app.retry : strings.thread.earlier}
        </Button>
      )}
    </div>
  );
}
