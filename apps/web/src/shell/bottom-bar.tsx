import { Link, useLocation } from '@tanstack/react-router';
import { Icon } from '../components/icon.tsx';
import { useFeatureStrings } from '../i18n/define-strings.ts';
import { InboxBadge } from './inbox-count.tsx';
import { findPlace, PLACES } from './places.ts';
import { shellStrings } from './strings.ts';

/** On a phone: the five places in reach of a thumb. Their pages are in the panel behind the menu button. */
export function BottomBar() {
  const words = useFeatureStrings(shellStrings);
  const path = useLocation({ select: (location) => location.pathname });
  const open = findPlace(path);
  return (
    <nav
      aria-label={words.navigation}
      className="border-t border-line bg-sunken pb-[env(safe-area-inset-bottom)] md:hidden"
    >
      <ul className="grid grid-cols-5">
        {PLACES.map((place) => (
          <li key={place.name} className="relative min-w-0">
            <Link
              to={place.pages[0]?.to ?? '/vitto'}
              activeOptions={{ exact: true }}
              aria-current={place === open ? 'true' : undefined}
              className={`grid min-h-12 justify-items-center gap-0.5 px-0.5 py-1.5 text-[0.6875rem] leading-4 ${place === open ? 'font-medium text-accent' : 'text-muted'}`}
            >
              <Icon name={place.icon} className="size-5" />
              <span className="max-w-full truncate">{words.places[place.name]}</span>
            </Link>
            {place.name === 'vitto' && <InboxBadge className="start-1/2 -top-0.5 ms-1" />}
          </li>
        ))}
      </ul>
    </nav>
  );
}
