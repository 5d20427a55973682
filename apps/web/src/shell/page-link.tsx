import { Link } from '@tanstack/react-router';
import { Icon } from '../components/icon.tsx';
import { useFeatureStrings } from '../i18n/define-strings.ts';
import { InboxCount } from './inbox-count.tsx';
import type { PageEntry } from './places.ts';
import { shellStrings } from './strings.ts';

const LINK =
  'flex min-h-8 items-center gap-2 rounded-md px-1.5 hover:bg-surface aria-[current=page]:bg-surface aria-[current=page]:font-medium';

/** A page of the open place. `/vitto` is a page of its own: what lies below it is not it. */
export function PageLink({ page }: { page: PageEntry }) {
  const words = useFeatureStrings(shellStrings);
  return (
    <Link to={page.to} activeOptions={{ exact: page.to === '/vitto' }} className={LINK}>
      {page.name === 'newConversation' && <Icon name="plus" className="text-accent" />}
      {page.name === 'inbox' && <Icon name="inbox" className="text-muted" />}
      <span className="min-w-0 flex-1 truncate">{words.pages[page.name]}</span>
      {page.name === 'inbox' && <InboxCount />}
    </Link>
  );
}

/** Pages that are not here yet, said once for all of them and marked on each. */
export function LaterLinks({ pages }: { pages: readonly PageEntry[] }) {
  const words = useFeatureStrings(shellStrings);
  return (
    <ul className="grid gap-px">
      {pages.map((page) => (
        <li key={page.to}>
          <Link to={page.to} className={`${LINK} text-muted`}>
            <span className="min-w-0 flex-1 truncate">{words.pages[page.name]}</span>
            <span
              className="shrink-0 rounded-full border border-dashed border-line-strong px-1.5 text-[0.6875rem] leading-4"
              title={words.soonHint}
            >
              {words.soon}
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}
