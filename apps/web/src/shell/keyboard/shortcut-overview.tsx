import { Fragment, useEffect, useRef, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Icon } from '../../components/icon.tsx';
import { useFeatureStrings } from '../../i18n/define-strings.ts';
import { useStrings } from '../../i18n/strings-context.tsx';
import { shellStrings } from '../strings.ts';
import { SHORTCUTS, type Shortcut } from './shortcuts.ts';

const OPEN = 'vitto:shortcuts';

/** Asks the frame to show the overview. */
export function openShortcuts(): void {
  document.dispatchEvent(new Event(OPEN));
}

/** All shortcuts. A native dialog: it keeps the focus, closes with Escape, and needs no style sheet made at run time. */
export function ShortcutOverview() {
  const words = useFeatureStrings(shellStrings).shortcuts;
  const strings = useStrings();
  const dialog = useRef<HTMLDialogElement>(null);
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const open = () => setOpen(true);
    document.addEventListener(OPEN, open);
    return () => document.removeEventListener(OPEN, open);
  }, []);
  useEffect(() => {
    if (isOpen && dialog.current?.open === false) dialog.current.showModal();
  }, [isOpen]);
  if (!isOpen) return null;
  const close = () => dialog.current?.close();
  return (
    <dialog
      ref={dialog}
      aria-labelledby="shortcuts-title"
      onClose={() => setOpen(false)}
      onClick={(event) => event.target === dialog.current && close()}
      className="m-auto max-h-[85dvh] w-[34rem] max-w-[calc(100vw-2rem)] rounded-xl border border-line bg-surface p-0 text-ink shadow-xl backdrop:bg-black/40"
    >
      <div className="grid gap-4 p-5">
        <div className="flex items-center">
          <h2 id="shortcuts-title" className="flex-1 text-base font-semibold">
            {words.title}
          </h2>
          <Button look="quiet" aria-label={strings.app.close} onClick={close}>
            <Icon name="close" />
          </Button>
        </div>
        {(['go', 'here', 'card'] as const).map((group) => (
          <section key={group} className="grid gap-1">
            <h3 className="text-xs font-medium text-muted">{words.groups[group]}</h3>
            <dl className="grid grid-cols-[minmax(0,1fr)_auto] items-center gap-x-4 gap-y-1">
              {SHORTCUTS.filter((one) => one.group === group).map((one) => (
                <Line key={one.keys.join(' ')} shortcut={one} />
              ))}
            </dl>
          </section>
        ))}
        <p className="text-xs text-muted">{words.note}</p>
      </div>
    </dialog>
  );
}

function Line({ shortcut }: { shortcut: Shortcut }) {
  const words = useFeatureStrings(shellStrings);
  const label = shortcut.group === 'go' ? words.pages[shortcut.page] : words.shortcuts[shortcut.label];
  return (
    <>
      <dt>{label}</dt>
      <dd className="flex items-center justify-end gap-1.5 text-xs text-muted">
        {shortcut.keys.map((key, index) => (
          <Fragment key={key}>
            {index > 0 && words.shortcuts.then}
            <kbd className="mono min-w-6 rounded-md border border-line-strong bg-sunken px-1.5 py-0.5 text-center text-ink">
              {key}
            </kbd>
          </Fragment>
        ))}
      </dd>
    </>
  );
}
