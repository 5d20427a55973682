import { useSyncExternalStore } from 'react';
import { useVitto } from '../api/vitto-context.tsx';
import { useStrings } from '../i18n/strings-context.tsx';

const LOOKS = {
  connecting: 'h-0.5 bg-accent-soft',
  reconnecting: 'bg-amber-soft text-amber border-b border-amber-line',
  offline: 'bg-amber-soft text-amber border-b border-amber-line',
} as const;

/** A thin bar while the stream is not live; nothing when it is. */
export function ConnectionBar() {
  const { stream } = useVitto();
  const strings = useStrings();
  const state = useSyncExternalStore(stream.subscribeState, () => stream.state);
  const isQuiet = state === 'idle' || state === 'live';
  return (
    <div role="status" data-connection={state} className={isQuiet ? undefined : LOOKS[state]}>
      {state === 'connecting' && <span className="sr-only">{strings.connection.connecting}</span>}
      {(state === 'reconnecting' || state === 'offline') && (
        <p className="px-4 py-1 text-center text-xs">{strings.connection[state]}</p>
      )}
    </div>
  );
}
