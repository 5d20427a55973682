import { useCallback, useEffect, useLayoutEffect, useRef, useState, type RefObject } from 'react';
import type { Row } from '../model/thread-rows.ts';
import { NEAR_END, type ThreadVirtualizer } from './use-thread-virtualizer.ts';

/**
 * Stays at the end while the thread grows, unless somebody has scrolled up. `isFollowing` begins with whether it opens
 * there.
 */
export function useFollowEnd(
  scroller: RefObject<HTMLDivElement | null>,
  virtualizer: ThreadVirtualizer,
  rows: readonly Row[],
  isFollowing: RefObject<boolean>,
) {
  const [isAtEnd, setAtEnd] = useState(() => isFollowing.current);
  const lastTop = useRef(0);

  const goToEnd = useCallback(() => {
    isFollowing.current = true;
    setAtEnd(true);
    virtualizer.scrollToEnd();
  }, [virtualizer, isFollowing]);
  const leaveEnd = useCallback(() => {
    isFollowing.current = false;
    setAtEnd(false);
  }, [isFollowing]);

  useLayoutEffect(() => {
    if (isFollowing.current && !virtualizer.isAtEnd()) virtualizer.scrollToEnd();
  }, [rows, virtualizer, isFollowing]);
  useEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    // The composer grew, the phone was turned, a panel opened.
    const observer = new ResizeObserver(() => isFollowing.current && virtualizer.scrollToEnd());
    observer.observe(element);
    return () => observer.disconnect();
  }, [scroller, virtualizer, isFollowing]);

  const onScroll = useCallback(() => {
    const element = scroller.current;
    if (element === null) return;
    const isNear = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_END;
    // Growth alone moves nothing up: only a person does.
    if (isNear) isFollowing.current = true;
    else if (element.scrollTop < lastTop.current) isFollowing.current = false;
    lastTop.current = element.scrollTop;
    setAtEnd(isFollowing.current);
  }, [scroller, isFollowing]);

  return { isAtEnd, onScroll, goToEnd, leaveEnd };
}
