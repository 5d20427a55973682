import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { SESSION_KEY, useSession } from '../api/session.ts';
import { useVitto } from '../api/vitto-context.tsx';
import { useInboxRefresh } from '../features/inbox/use-inbox.ts';

/**
 * Follows the stream on every page. It begins where the journal stood when the session was read, which is before
 * anything that a page loads: so what is loaded and what streams overlap and leave no gap.
 */
export function useLiveStream(): void {
  const { api, stream } = useVitto();
  const queries = useQueryClient();
  const session = useSession();
  const start = session.data?.lastPosition;
  useInboxRefresh(stream);

  useEffect(() => {
    if (start === undefined) return;
    stream.ensureStarted(start);
    stream.resume();
  }, [stream, start]);

  useEffect(
    () =>
      stream.subscribe({
        onEvents: () => {},
        // The journal is another one: what was asked before counts no more. Again the stream begins first.
        onResync: () => {
          void api.readSession().then((me) => {
            if (me !== null) stream.ensureStarted(me.lastPosition);
            void queries.invalidateQueries({ predicate: (query) => query.queryKey[0] !== SESSION_KEY[0] });
          });
        },
      }),
    [api, stream, queries],
  );
}
