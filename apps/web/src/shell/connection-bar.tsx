import { useEffect, useState, useSyncExternalStore } from 'react';
import type { StreamState } from '../api/event-stream.ts';
import { useVitto } from '../api/vitto-context.tsx';
import { useStrings } from '../i18n/strings-context.tsx';

/** A break that is mended sooner is not worth a bar. */
const PATIENCE_MS = 800;

/** A thin bar while the stream is not live; nothing when it is. */
export function ConnectionBar() {
  const { stream } = useVitto();
  const strings = useStrings();
  const state = useSyncExternalStore(stream.subscribeState, () => stream.state);
  const isLost = state === 'reconnecting' || state === 'offline';
  const isShown = useStillSo(isLost);
  return (
    <div role="status" data-connection={state}>
      {isLost && isShown && <p className={BAR}>{strings.connection[state]}</p>}
      {state === 'connecting' && <Connecting state={state} />}
    </div>
  );
}

const BAR = 'border-b border-amber-line bg-amber-soft px-4 py-1 text-center text-xs text-amber';

function Connecting({ state }: { state: Extract<StreamState, 'connecting'> }) {
  const strings = useStrings();
  return (
    <div className="appear-late absolute inset-x-0 top-0 h-0.5 bg-accent-fill">
      <span className="sr-only">{strings.connection[state]}</span>
    </div>
  );
}

/** True once something has been so for a while. */
function useStillSo(isSo: boolean): boolean {
  const [isStill, setStill] = useState(false);
  useEffect(() => {
    if (!isSo) return;
    const timer = window.setTimeout(() => setStill(true), PATIENCE_MS);
    return () => {
      window.clearTimeout(timer);
      setStill(false);
    };
  }, [isSo]);
  return isStill;
}
