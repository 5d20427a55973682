import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Popover } from 'radix-ui';
import { SESSION_KEY, tellOtherTabs, useSession } from '../api/session.ts';
import { useVitto } from '../api/vitto-context.tsx';
import { Button } from '../components/button.tsx';
import { Icon } from '../components/icon.tsx';
import { useFeatureStrings } from '../i18n/define-strings.ts';
import { useStrings } from '../i18n/strings-context.tsx';
import { PreferenceControls } from './preference-controls.tsx';
import { openShortcuts } from './keyboard/shortcut-overview.tsx';
import { shellStrings } from './strings.ts';

/** Who is signed in; theme, language, the keyboard and the way out. `isSmall`: in a rail without words. */
export function AccountMenu({ isSmall = false }: { isSmall?: boolean }) {
  const strings = useStrings();
  const words = useFeatureStrings(shellStrings);
  const session = useSession();
  return (
    <Popover.Root>
      <Popover.Trigger
        aria-label={isSmall ? words.preferences : undefined}
        title={isSmall ? words.preferences : undefined}
        className={`flex min-h-9 items-center gap-2.5 rounded-md text-muted hover:bg-surface hover:text-ink ${isSmall ? 'w-9 justify-center' : 'w-full px-1.5'}`}
      >
        <Icon name="person" />
        {!isSmall && (
          <>
            <span className="min-w-0 flex-1 truncate text-start" dir="auto">
              {session.data?.name.toWellFormed() ?? words.preferences}
            </span>
            <span className="sr-only">{words.preferences}</span>
            <Icon name="chevron" className="size-3.5 -rotate-90" />
          </>
        )}
      </Popover.Trigger>
      <Popover.Content
        side="top"
        align="start"
        sideOffset={6}
        collisionPadding={8}
        aria-label={words.preferences}
        className="appear z-30 grid w-64 gap-3 rounded-lg border border-line bg-surface p-3 shadow-lg"
      >
        <PreferenceControls />
        <div className="flex flex-wrap justify-between gap-2 border-t border-line pt-2">
          <Popover.Close asChild>
            <Button look="quiet" className="hidden md:inline-flex" onClick={openShortcuts}>
              <Icon name="keyboard" />
              {words.keyboard}
            </Button>
          </Popover.Close>
          <SignOut label={strings.preferences.signOut} />
        </div>
      </Popover.Content>
    </Popover.Root>
  );
}

function SignOut({ label }: { label: string }) {
  const { api } = useVitto();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const signOut = async () => {
    await api.signOut().catch(() => {});
    queries.removeQueries({ predicate: (query) => query.queryKey[0] !== SESSION_KEY[0] });
    queries.setQueryData(SESSION_KEY, await api.readSession().catch(() => null));
    tellOtherTabs();
    await navigate({ to: '/sign-in' });
  };
  return (
    <Button look="quiet" onClick={() => void signOut()}>
      {label}
    </Button>
  );
}
