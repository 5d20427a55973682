import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { ApiError } from '../../api/api-error.ts';
import { Button } from '../../components/button.tsx';
import { Icon } from '../../components/icon.tsx';
import { useStrings } from '../../i18n/strings-context.tsx';
import type { ConversationState } from './conversation-store.ts';
import { ThreadItem } from './items/thread-item.tsx';
import type { ConversationView } from './model/view.ts';

/** Items in the page at the end, and how many more come with each step up. */
const WINDOW = 120;
/** As near to the end as this counts as being there, in pixels. */
const NEAR_END = 80;

interface ThreadProps {
  view: ConversationView;
  older: ConversationState['older'];
  onOlder: () => Promise<void>;
  onAnswer: (callId: string, text: string) => Promise<ApiError | null>;
}

/** The conversation as a document: the newest part of it, more on the way up, and the end in sight while it grows. */
export function Thread({ view, older, onOlder, onAnswer }: ThreadProps) {
  const strings = useStrings();
  const scroller = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLOListElement>(null);
  const part = useWindow(view, older, onOlder);
  const { isAtEnd, onScroll, goToEnd } = useFollowEnd(scroller, list, part.reset);
  useKeepPlace(scroller, list, part.items[0]?.key, isAtEnd);

  return (
    <div className="relative min-h-0 flex-1">
      <section
        ref={scroller}
        aria-label={strings.thread.label}
        tabIndex={0}
        onScroll={onScroll}
        className="h-full overflow-y-auto focus-visible:outline-offset-[-2px] [overflow-anchor:none]"
      >
        <div className="mx-auto w-full max-w-3xl px-4 py-6">
          {part.hasMore && <Earlier state={older} onShow={part.showEarlier} root={scroller} />}
          {view.items.length === 0 && <p className="text-muted">{strings.thread.nothing}</p>}
          <ol ref={list} className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-4">
            {part.items.map((item) => (
              <ThreadItem key={item.key} item={item} onAnswer={onAnswer} />
            ))}
          </ol>
        </div>
      </section>
      {!isAtEnd && (
        <Button className="absolute inset-x-0 bottom-2 mx-auto w-fit shadow-md" onClick={goToEnd}>
          <Icon name="down" />
          {strings.thread.latest}
        </Button>
      )}
    </div>
  );
}

/** The part of the conversation that is in the page: its end, or from where somebody went up to. */
function useWindow(view: ConversationView, older: ConversationState['older'], onOlder: () => Promise<void>) {
  const [firstKey, setFirstKey] = useState<string | null>(null);
  const { items, index } = view;
  const start = (firstKey === null ? undefined : index.get(firstKey)) ?? Math.max(0, items.length - WINDOW);
  const showEarlier = useCallback(() => {
    if (start === 0 && older !== 'none') void onOlder();
    setFirstKey(items[Math.max(0, start - WINDOW)]?.key ?? null);
  }, [items, start, older, onOlder]);
  const reset = useCallback(() => setFirstKey(null), []);
  return { items: items.slice(start), hasMore: start > 0 || older !== 'none', showEarlier, reset };
}

function Earlier(props: {
  state: ConversationState['older'];
  onShow: () => void;
  root: React.RefObject<HTMLDivElement | null>;
}) {
  const strings = useStrings();
  const mark = useRef<HTMLDivElement>(null);
  const { state, onShow, root } = props;
  useEffect(() => {
    if (mark.current === null || state === 'loading' || state === 'error') return;
    const observer = new IntersectionObserver((seen) => seen.some((one) => one.isIntersecting) && onShow(), {
      root: root.current,
      rootMargin: '200px 0px 0px 0px',
    });
    observer.observe(mark.current);
    return () => observer.disconnect();
  }, [state, onShow, root]);
  return (
    <div ref={mark} className="pb-4 text-center text-muted">
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

/** Stays at the end while the thread grows, unless somebody has scrolled up. */
function useFollowEnd(
  scroller: React.RefObject<HTMLDivElement | null>,
  list: React.RefObject<HTMLOListElement | null>,
  onBack: () => void,
) {
  const [isAtEnd, setAtEnd] = useState(true);
  const follows = useRef(true);

  const goToEnd = useCallback(() => {
    follows.current = true;
    setAtEnd(true);
    onBack();
    const element = scroller.current;
    if (element !== null) element.scrollTop = element.scrollHeight;
  }, [scroller, onBack]);

  useEffect(() => {
    const element = scroller.current;
    if (element === null || list.current === null) return;
    const observer = new ResizeObserver(() => {
      if (follows.current) element.scrollTop = element.scrollHeight;
    });
    observer.observe(list.current);
    observer.observe(element);
    return () => observer.disconnect();
  }, [scroller, list]);

  const lastTop = useRef(0);
  const onScroll = useCallback(() => {
    const element = scroller.current;
    if (element === null) return;
    const isNear = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_END;
    // Growth alone moves nothing up: only a person does.
    if (isNear) follows.current = true;
    else if (element.scrollTop < lastTop.current) follows.current = false;
    lastTop.current = element.scrollTop;
    setAtEnd(follows.current);
  }, [scroller]);

  return { isAtEnd, onScroll, goToEnd };
}

/** When earlier items come in above, what is being read stays where it is. */
function useKeepPlace(
  scroller: React.RefObject<HTMLDivElement | null>,
  list: React.RefObject<HTMLOListElement | null>,
  firstKey: string | undefined,
  isAtEnd: boolean,
): void {
  const before = useRef<{ key: string | undefined; element: HTMLElement | null; top: number } | null>(null);
  useLayoutEffect(() => {
    const last = before.current;
    const shift = last?.element?.isConnected ? last.element.offsetTop - last.top : 0;
    if (scroller.current !== null && last?.key !== firstKey && !isAtEnd) scroller.current.scrollTop += shift;
    const element = (list.current?.firstElementChild ?? null) as HTMLElement | null;
    before.current = { key: firstKey, element, top: element?.offsetTop ?? 0 };
  });
}
