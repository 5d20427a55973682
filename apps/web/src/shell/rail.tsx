import { Link, useLocation } from '@tanstack/react-router';
import { Icon } from '../components/icon.tsx';
import { useFeatureStrings } from '../i18n/define-strings.ts';
import { useStrings } from '../i18n/strings-context.tsx';
import { AccountMenu } from './account-menu.tsx';
import { ConversationList } from './conversation-list.tsx';
import { LaterLinks, PageLink } from './page-link.tsx';
import { findPlace, PLACES, type Place } from './places.ts';
import { shellStrings } from './strings.ts';

/** The five places; the one that is open with its pages below it. */
export function RailContent() {
  const strings = useStrings();
  const words = useFeatureStrings(shellStrings);
  const open = findPlace(useLocation({ select: (location) => location.pathname }));
  return (
    <div className="flex min-h-0 w-full flex-1 flex-col gap-2 p-3">
      <Link to="/vitto" className="flex w-fit items-center gap-2 px-1.5 pt-1 text-base font-semibold">
        <img src="/favicon.svg" alt="" className="size-6" />
        {strings.app.name}
      </Link>
      <ul className="flex min-h-0 flex-1 flex-col gap-0.5 overflow-y-auto">
        {PLACES.map((place) => (
          <li key={place.name} className={place === open ? 'flex min-h-fit flex-col' : ''}>
            <Link
              to={place.pages[0]?.to ?? '/vitto'}
              activeOptions={{ exact: true }}
              aria-current={place === open ? 'true' : undefined}
              className={`flex min-h-8 items-center gap-2.5 rounded-md px-1.5 font-medium hover:bg-surface ${place === open ? 'text-ink' : 'text-muted'}`}
            >
              <Icon name={place.icon} className={place === open ? 'text-accent' : ''} />
              {words.places[place.name]}
            </Link>
            {place === open && <Pages place={place} />}
          </li>
        ))}
      </ul>
      <AccountMenu />
    </div>
  );
}

/** What is here already, the conversations in the place of Vitto, and what comes later. */
function Pages({ place }: { place: Place }) {
  const now = place.pages.filter((page) => page.isLater !== true);
  if (place.name === 'settings') return null;
  return (
    <div className="flex flex-col gap-2 ps-3 pb-2">
      <ul className="grid gap-px">
        {now.map((page) => (
          <li key={page.to}>
            <PageLink page={page} />
          </li>
        ))}
      </ul>
      {place.name === 'vitto' && (
        <div className="flex max-h-[45dvh] min-h-24 flex-col">
          <ConversationList />
        </div>
      )}
      <LaterLinks pages={place.pages.filter((page) => page.isLater === true)} />
    </div>
  );
}
