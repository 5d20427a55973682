import { useCallback, useEffect, type RefObject } from 'react';
import type { ConversationState } from '../conversation-store.ts';

/** As near to the beginning as this, in pixels, the page before it is asked for. */
const NEAR_START = 800;

/**
 * Loads the page before the first one when somebody comes near to it, or when what is here needs it: the rows do not
 * fill the window, or one of them begins there (`isCut`).
 */
export function useEarlier(
  scroller: RefObject<HTMLDivElement | null>,
  older: ConversationState['older'],
  onOlder: () => Promise<void>,
  isFollowing: RefObject<boolean>,
  isCut: boolean,
): () => void {
  const loadIfNear = useCallback(() => {
    const element = scroller.current;
    if (element === null || older !== 'some') return;
    const isFull = element.scrollHeight > element.clientHeight + 1;
    if (!isCut && isFull && (isFollowing.current || element.scrollTop > NEAR_START)) return;
    void onOlder();
  }, [scroller, older, onOlder, isFollowing, isCut]);
  useEffect(loadIfNear, [loadIfNear]);
  return loadIfNear;
}
