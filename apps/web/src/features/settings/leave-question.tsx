import { useBlocker } from '@tanstack/react-router';
import { useEffect, useId, useRef } from 'react';
import { Button } from '../../components/button.tsx';
import { useFeatureStrings } from '../../i18n/define-strings.ts';
import { useUnsavedSections } from './drafts.tsx';
import { SECTIONS } from './sections.ts';
import { settingsStrings } from './strings.ts';

/** Between the parts of the settings everything typed is kept; who leaves them is asked. */
export function LeaveQuestion() {
  const words = useFeatureStrings(settingsStrings);
  const unsaved = useUnsavedSections();
  const blocker = useBlocker({
    shouldBlockFn: ({ next }) => unsaved.size > 0 && !next.pathname.startsWith('/vitto/settings'),
    enableBeforeUnload: () => unsaved.size > 0,
    withResolver: true,
  });
  if (blocker.status !== 'blocked') return null;
  const names = SECTIONS.filter(({ id }) => unsaved.has(id)).map(({ id }) => words.sections[id]);
  return (
    <Question text={words.leaveText(names.join(', '))} onLeave={blocker.proceed} onStay={blocker.reset} />
  );
}

function Question({ text, onLeave, onStay }: { text: string; onLeave: () => void; onStay: () => void }) {
  const words = useFeatureStrings(settingsStrings);
  const titleId = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (dialog.current?.open === false) dialog.current.showModal();
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={titleId}
      className="m-auto max-w-md rounded-xl border border-line-strong bg-surface p-4 text-ink backdrop:bg-black/40"
      onClose={onStay}
    >
      <h2 id={titleId} className="text-base font-semibold">
        {words.leaveTitle}
      </h2>
      <p className="mt-1 text-muted">{text}</p>
      <div className="mt-4 flex flex-wrap gap-2">
        <Button look="primary" className="min-h-9" onClick={onStay}>
          {words.stay}
        </Button>
        <Button look="danger" className="min-h-9" onClick={onLeave}>
          {words.leave}
        </Button>
      </div>
    </dialog>
  );
}
