import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { CONVERSATIONS_KEY, conversationsQuery } from '../api/queries.ts';
import { useSession } from '../api/session.ts';
import { useRefreshOnEvents } from '../api/use-refresh-on-events.ts';
import { useVitto } from '../api/vitto-context.tsx';
import { Button } from '../components/button.tsx';
import { useStrings } from '../i18n/strings-context.tsx';
import { ConversationRow } from './conversation-row.tsx';
import { SearchField } from './search-field.tsx';
import { SearchHits } from './search-hits.tsx';

/** The conversations, newest first, and the search over them. */
export function ConversationList() {
  const strings = useStrings();
  const [text, setText] = useState('');
  return (
    <div className="flex min-h-0 flex-1 flex-col gap-1">
      <SearchField text={text} onText={setText} />
      <div className="-mx-1 min-h-0 flex-1 overflow-y-auto px-1" tabIndex={-1}>
        <h2 className="px-1.5 pb-1 text-xs font-medium text-muted">{strings.list.title}</h2>
        {text.trim() === '' ? <AllConversations /> : <SearchHits text={text} />}
      </div>
    </div>
  );
}

function AllConversations() {
  const strings = useStrings();
  const { api, stream } = useVitto();
  const session = useSession();
  const list = useInfiniteQuery({ ...conversationsQuery(api), enabled: session.data != null });
  useRefreshOnEvents(stream, MOVES, CONVERSATIONS_KEY);
  const items = list.data?.pages.flatMap((page) => page.items) ?? [];

  return (
    <>
      {list.isError && (
        <p className="px-1.5 text-red">
          {strings.list.failed}{' '}
          <button type="button" className="underline" onClick={() => void list.refetch()}>
            {strings.app.retry}
          </button>
        </p>
      )}
      {list.isPending && session.data != null && <Skeleton />}
      {list.isSuccess && items.length === 0 && <p className="px-1.5 text-muted">{strings.list.empty}</p>}
      <ul className="grid grid-cols-[minmax(0,1fr)] gap-px">
        {items.map((item) => (
          <ConversationRow key={item.id} item={item} />
        ))}
      </ul>
      {list.hasNextPage && (
        <Button
          look="quiet"
          className="mt-1 w-full"
          disabled={list.isFetchingNextPage}
          onClick={() => void list.fetchNextPage()}
        >
          {strings.list.more}
        </Button>
      )}
    </>
  );
}

/** What moves a conversation in the list. */
const MOVES = new Set(['user.message', 'task.created', 'task.completed', 'task.failed', 'task.cancelled']);

function Skeleton() {
  return (
    <ul className="appear-late grid gap-px" aria-hidden="true">
      {['w-40', 'w-28', 'w-36'].map((width) => (
        <li key={width} className="flex min-h-8 items-center px-1.5">
          <span className={`h-3 rounded-sm bg-line ${width}`} />
        </li>
      ))}
    </ul>
  );
}
