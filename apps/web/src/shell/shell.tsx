import { Outlet, useNavigate } from '@tanstack/react-router';
import { Suspense, useEffect, useRef } from 'react';
import { SESSION_KEY, useSession } from '../api/session.ts';
import { useQueryClient } from '@tanstack/react-query';
import { Button } from '../components/button.tsx';
import { useFeatureStrings } from '../i18n/define-strings.ts';
import { PageNotices } from '../features/notices/page-notices.tsx';
import { useStrings } from '../i18n/strings-context.tsx';
import { ConnectionBar } from './connection-bar.tsx';
import { BottomBar } from './bottom-bar.tsx';
import { ShortcutOverview } from './keyboard/shortcut-overview.tsx';
import { useShortcuts } from './keyboard/use-shortcuts.ts';
import { SessionStrip } from './session-strip.tsx';
import { SideRail } from './side-rail.tsx';
import { shellStrings } from './strings.ts';
import { useArrival } from './use-arrival.ts';
import { useLiveStream } from './use-live-stream.ts';

/** The rail and the place beside it, for who is signed in. A session that ends later does not take the page away. */
export function Shell() {
  const session = useSession();
  const navigate = useNavigate();
  const wasSignedIn = useRef(false);

  useEffect(() => {
    if (session.data === null && !wasSignedIn.current) void navigate({ to: '/sign-in', replace: true });
    if (session.data) wasSignedIn.current = true;
  }, [session.data, navigate]);

  if (session.data === undefined) return <Starting isUnreachable={session.isError} />;
  return <Frame isSignedOut={session.data === null} />;
}

function Frame({ isSignedOut }: { isSignedOut: boolean }) {
  const words = useFeatureStrings(shellStrings);
  useLiveStream();
  useShortcuts();
  useArrival();
  return (
    <div className="flex h-dvh">
      <a
        href="#content"
        className="sr-only z-20 rounded-md bg-surface p-2 focus:not-sr-only focus:absolute focus:top-2 focus:left-2"
      >
        {words.skip}
      </a>
      <SideRail />
      <div className="flex min-w-0 flex-1 flex-col">
        <ConnectionBar />
        <PageNotices />
        {isSignedOut && <SessionStrip />}
        <Suspense fallback={<main id="content" className="min-h-0 flex-1" aria-busy="true" />}>
          <Outlet />
        </Suspense>
        <BottomBar />
      </div>
      <ShortcutOverview />
    </div>
  );
}

function Starting({ isUnreachable }: { isUnreachable: boolean }) {
  const strings = useStrings();
  const queries = useQueryClient();
  if (!isUnreachable) {
    return (
      <main className="appear-late grid h-dvh place-content-center text-muted" aria-busy="true">
        {strings.app.loading}
      </main>
    );
  }
  return (
    <main role="alert" className="mx-auto grid h-dvh max-w-md content-center justify-items-start gap-3 p-6">
      <h1 className="text-lg font-semibold">{strings.session.unreachable}</h1>
      <p className="text-muted">{strings.session.unreachableHint}</p>
      <Button look="primary" onClick={() => void queries.invalidateQueries({ queryKey: SESSION_KEY })}>
        {strings.app.retry}
      </Button>
    </main>
  );
}
