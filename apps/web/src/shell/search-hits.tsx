import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { SearchHit } from '@vitto/contracts';
import { useEffect, useState } from 'react';
import { useVitto } from '../api/vitto-context.tsx';
import { Button } from '../components/button.tsx';
import { explainError } from '../components/failure-note.tsx';
import { Moment } from '../components/moment.tsx';
import { useStrings } from '../i18n/strings-context.tsx';
import { toApiError } from '../api/api-error.ts';

/** While somebody types, nothing is asked. */
const TYPING_MS = 200;

/** Where the words were found; each leads to its place in the conversation. */
export function SearchHits({ text }: { text: string }) {
  const strings = useStrings();
  const { api } = useVitto();
  const words = useSettled(text.trim());
  const hits = useQuery({
    queryKey: ['search', words],
    queryFn: ({ signal }) => api.searchConversations(words, signal),
    placeholderData: keepPreviousData,
    enabled: words !== '',
    retry: false,
    gcTime: 30_000,
  });
  if (hits.isError) {
    return (
      <div role="alert" className="grid justify-items-start gap-1.5 px-1.5 text-red">
        {strings.list.searchFailed} {explainError(toApiError(hits.error), strings).message}
        <Button onClick={() => void hits.refetch()}>{strings.app.retry}</Button>
      </div>
    );
  }
  const found = hits.data ?? null;
  return (
    <>
      <p role="status" className="px-1.5 pb-1 text-xs text-muted">
        {found === null
          ? strings.list.searching
          : found.length === 0
            ? strings.list.nothingFound
            : strings.list.found(found.length)}
      </p>
      <ul className="grid grid-cols-[minmax(0,1fr)] gap-px" aria-busy={hits.isFetching}>
        {found?.map((hit) => (
          <Hit key={`${hit.conversationId} ${hit.kind} ${hit.position}`} hit={hit} />
        ))}
      </ul>
    </>
  );
}

function Hit({ hit }: { hit: SearchHit }) {
  const strings = useStrings();
  return (
    <li>
      <Link
        to="/vitto/c/$conversationId"
        params={{ conversationId: hit.conversationId }}
        search={hit.position === null || hit.kind === 'title' ? {} : { at: hit.position }}
        className="grid gap-0.5 rounded-md px-1.5 py-1 hover:bg-surface"
      >
        <span className="flex items-baseline gap-2">
          <span className="min-w-0 flex-1 truncate font-medium" dir="auto">
            {hit.title === '' ? strings.app.untitled : hit.title.toWellFormed()}
          </span>
          <span className="shrink-0 text-xs text-muted">
            <Moment at={hit.at} />
          </span>
        </span>
        {hit.kind !== 'title' && (
          <span className="line-clamp-2 text-xs text-muted [overflow-wrap:anywhere]" dir="auto">
            <span className="sr-only">{strings.list.kinds[hit.kind]}: </span>
            {hit.excerpt.map((part, index) =>
              part.isMatch ? (
                <mark key={index} className="rounded-sm bg-accent-soft font-medium text-accent">
                  {part.text.toWellFormed()}
                </mark>
              ) : (
                part.text.toWellFormed()
              ),
            )}
          </span>
        )}
      </Link>
    </li>
  );
}

/** A text once it has not changed for a moment. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = window.setTimeout(() => setSettled(text), TYPING_MS);
    return () => window.clearTimeout(timer);
  }, [text]);
  return settled;
}
