import { Link } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { Button } from '../components/button.tsx';
import { Icon } from '../components/icon.tsx';
import { useStrings } from '../i18n/strings-context.tsx';
import { RailContent } from './rail.tsx';

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
