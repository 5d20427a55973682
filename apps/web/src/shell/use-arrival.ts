import { useRouterState } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';

/** Frames to wait for a page that is still being loaded: about three seconds. */
const PATIENCE = 180;

/**
 * After a navigation the focus goes to the new page's heading, so that who does not see the page knows where they are.
 * A page that takes the focus itself keeps it; the first page leaves it where the browser put it.
 */
export function useArrival(): void {
  // Set once the page is drawn; until then the heading is still that of the page before.
  const path = useRouterState({ select: (state) => state.resolvedLocation?.pathname });
  const last = useRef(path);
  useEffect(() => {
    const isFirst = last.current === undefined;
    if (last.current === path) return;
    last.current = path;
    if (isFirst) return;
    let frame = 0;
    const look = (left: number) => {
      frame = requestAnimationFrame(() => {
        const content = document.getElementById('content');
        const heading = content?.querySelector('h1');
        if (heading == null || content?.ariaBusy === 'true') return left > 0 && look(left - 1);
        if (content?.contains(document.activeElement) === true) return;
        heading.tabIndex = -1;
        heading.focus({ preventScroll: true });
      });
    };
    look(PATIENCE);
    return () => cancelAnimationFrame(frame);
  }, [path]);
}
