import { Link, useNavigate } from '@tanstack/react-router';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { SESSION_KEY, tellOtherTabs } from '../api/session.ts';
import { useVitto } from '../api/vitto-context.tsx';
import { Button } from '../components/button.tsx';
import { Icon } from '../components/icon.tsx';
import { useStrings } from '../i18n/strings-context.tsx';
import { ConversationList } from './conversation-list.tsx';
import { PreferenceControls } from './preference-controls.tsx';

export function RailContent() {
  const strings = useStrings();
  return (
    <div className="flex min-h-0 w-full flex-col gap-3 p-3">
      <Link to="/vitto" className="flex items-center gap-2 px-1.5 pt-1 text-base font-semibold">
        <img src="/favicon.svg" alt="" className="size-6" />
        {strings.app.name}
      </Link>
      <Link
        to="/vitto"
        className="flex min-h-9 items-center gap-2 rounded-md border border-line bg-surface px-2.5 font-medium hover:border-line-strong"
      >
        <Icon name="plus" className="text-accent" />
        {strings.app.newChat}
      </Link>
      <ConversationList />
      <div className="grid gap-2 border-t border-line pt-3">
        <PreferenceControls />
        <SignOut />
      </div>
    </div>
  );
}

function SignOut() {
  const strings = useStrings();
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
    <Button look="quiet" className="justify-self-start" onClick={() => void signOut()}>
      {strings.preferences.signOut}
    </Button>
  );
}

/** On a phone: opens the rail in a panel. A native dialog keeps the focus and closes on Escape. */
export function MenuButton() {
  const strings = useStrings();
  const [isOpen, setOpen] = useState(false);
  return (
    <div className="-ms-2 md:hidden">
      <Button look="quiet" aria-label={strings.app.menu} onClick={() => setOpen(true)}>
        <Icon name="menu" />
      </Button>
      {isOpen && <Drawer onClose={() => setOpen(false)} />}
    </div>
  );
}

/** On a phone: a new conversation, always in reach. */
export function NewLink() {
  const strings = useStrings();
  return (
    <Link
      to="/vitto"
      aria-label={strings.app.newChat}
      className="-me-2 grid size-9 place-content-center rounded-md text-muted md:hidden"
    >
      <Icon name="plus" />
    </Link>
  );
}

function Drawer({ onClose }: { onClose: () => void }) {
  const strings = useStrings();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const { current } = dialog;
    if (current !== null && !current.open) current.showModal();
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-label={strings.app.menu}
      className="m-0 h-dvh max-h-none w-72 max-w-[85vw] border-r border-line bg-sunken text-ink backdrop:bg-black/40"
      onClose={onClose}
      onClick={(event) => {
        // Beside the panel, or on the way to another page.
        const isAway = event.target === dialog.current || (event.target as Element).closest('a') !== null;
        if (isAway) dialog.current?.close();
      }}
    >
      <div className="flex h-full">
        <RailContent />
      </div>
      <Button
        look="quiet"
        className="absolute top-3 right-2"
        aria-label={strings.app.closeMenu}
        onClick={() => dialog.current?.close()}
      >
        <Icon name="close" />
      </Button>
    </dialog>
  );
}
