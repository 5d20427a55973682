import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { EventStream } from './event-stream.ts';

/** However many events come, what they change is asked for again at most once in this many milliseconds. */
const REFRESH_MS = 250;

/** Keeps what was asked of the server true: events of these types make it load again. The arguments are constants. */
export function useRefreshOnEvents(
  stream: EventStream,
  types: ReadonlySet<string>,
  queryKey: readonly string[],
): void {
  const queries = useQueryClient();
  useEffect(() => {
    let timer: number | undefined;
    const refresh = () => {
      timer ??= window.setTimeout(() => {
        timer = undefined;
        void queries.invalidateQueries({ queryKey });
      }, REFRESH_MS);
    };
    const unsubscribe = stream.subscribe({
      onEvents: (events) => events.some((event) => types.has(event.type)) && refresh(),
      onResync: refresh,
    });
    return () => {
      window.clearTimeout(timer);
      unsubscribe();
    };
  }, [stream, queries, types, queryKey]);
}
