import { Link, useLocation } from '@tanstack/react-router';
import { useState } from 'react';
import { Icon } from '../components/icon.tsx';
import { useFeatureStrings } from '../i18n/define-strings.ts';
import { AccountMenu } from './account-menu.tsx';
import { InboxBadge } from './inbox-count.tsx';
import { findPlace, PLACES } from './places.ts';
import { RailContent } from './rail.tsx';
import { shellStrings } from './strings.ts';

const KEY = 'vitto.rail';

/** The rail on the left from tablets on; folded to its signs when the person wants the width, which this browser keeps. */
export function SideRail() {
  const words = useFeatureStrings(shellStrings);
  const [isFolded, setFolded] = useState(() => localStorage.getItem(KEY) === 'folded');
  const toggle = () => {
    localStorage.setItem(KEY, isFolded ? 'open' : 'folded');
    setFolded(!isFolded);
  };
  const label = isFolded ? words.expand : words.collapse;
  return (
    <nav
      aria-label={words.navigation}
      className={`relative hidden shrink-0 border-e border-line bg-sunken md:flex ${isFolded ? 'w-14 flex-col' : 'w-64'}`}
    >
      <button
        type="button"
        aria-label={label}
        aria-expanded={!isFolded}
        data-unfold={isFolded ? true : undefined}
        title={label}
        onClick={toggle}
        className={`grid size-8 place-content-center rounded-md text-muted hover:bg-surface hover:text-ink ${isFolded ? 'mx-auto mt-3' : 'absolute end-2 top-3 z-10'}`}
      >
        <Icon name="sidebar" />
      </button>
      {isFolded ? <Signs /> : <RailContent />}
    </nav>
  );
}

/** The places as signs, their names on hover and for screen readers. */
function Signs() {
  const words = useFeatureStrings(shellStrings);
  const open = findPlace(useLocation({ select: (location) => location.pathname }));
  return (
    <>
      <ul className="mt-2 grid flex-1 content-start justify-items-center gap-1">
        {PLACES.map((place) => (
          <li key={place.name} className="relative">
            <Link
              to={place.pages[0]?.to ?? '/vitto'}
              activeOptions={{ exact: true }}
              aria-current={place === open ? 'true' : undefined}
              aria-label={words.places[place.name]}
              title={words.places[place.name]}
              className={`grid size-9 place-content-center rounded-md hover:bg-surface ${place === open ? 'bg-surface text-accent' : 'text-muted'}`}
            >
              <Icon name={place.icon} />
            </Link>
            {place.name === 'vitto' && <InboxBadge className="-end-1.5 -top-1.5" />}
          </li>
        ))}
      </ul>
      <div className="flex justify-center pb-3">
        <AccountMenu isSmall />
      </div>
    </>
  );
}
