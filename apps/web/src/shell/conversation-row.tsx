import { Link } from '@tanstack/react-router';
import type { Conversation } from '@vitto/contracts';
import { useEffect, useRef, useState } from 'react';
import { Button } from '../components/button.tsx';
import { explainError } from '../components/failure-note.tsx';
import { Icon, type IconName } from '../components/icon.tsx';
import { useStrings } from '../i18n/strings-context.tsx';
import { useChangeConversation } from './use-change-conversation.ts';

/** One conversation: opens it; renames and deletes it in its own place. */
export function ConversationRow({ item }: { item: Conversation }) {
  const [mode, setMode] = useState<'link' | 'rename' | 'remove'>('link');
  const row = useRef<HTMLLIElement>(null);
  const wasOpen = useRef(false);
  useEffect(() => {
    // Back to where one was, when the field or the question closes.
    if (mode === 'link' && wasOpen.current) row.current?.querySelector('a')?.focus();
    wasOpen.current = mode !== 'link';
  }, [mode]);
  const close = () => setMode('link');
  return (
    <li
      ref={row}
      className="min-w-0"
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || mode === 'link') return;
        event.stopPropagation();
        close();
      }}
    >
      {mode === 'link' && <OpenLink item={item} onMode={setMode} />}
      {mode === 'rename' && <RenameForm item={item} onClose={close} />}
      {mode === 'remove' && <RemoveQuestion item={item} onClose={close} />}
    </li>
  );
}

function OpenLink({ item, onMode }: { item: Conversation; onMode: (mode: 'rename' | 'remove') => void }) {
  const strings = useStrings();
  const title = (item.title === '' ? strings.app.untitled : item.title).toWellFormed();
  return (
    <div className="group relative flex items-center rounded-md hover:bg-surface focus-within:bg-surface">
      <Link
        to="/vitto/c/$conversationId"
        params={{ conversationId: item.id }}
        activeOptions={{ includeSearch: false }}
        className="flex min-h-8 min-w-0 flex-1 items-center gap-2 rounded-md px-1.5 aria-[current=page]:bg-surface aria-[current=page]:font-medium"
      >
        <span className="min-w-0 flex-1 truncate" dir="auto">
          {title}
        </span>
        {item.activeTaskId !== null && (
          <span className="live-dot shrink-0" role="img" aria-label={strings.list.running} />
        )}
      </Link>
      <span className="flex shrink-0 pointer-fine:sr-only pointer-fine:group-hover:not-sr-only pointer-fine:group-focus-within:not-sr-only">
        <RowButton icon="pencil" label={strings.list.rename(title)} onAct={() => onMode('rename')} />
        <RowButton icon="trash" label={strings.list.removeOne(title)} onAct={() => onMode('remove')} />
      </span>
    </div>
  );
}

function RowButton({ icon, label, onAct }: { icon: IconName; label: string; onAct: () => void }) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      onClick={onAct}
      className="grid size-7 place-content-center rounded-md text-muted hover:text-ink"
    >
      <Icon name={icon} className="size-3.5" />
    </button>
  );
}

function RenameForm({ item, onClose }: { item: Conversation; onClose: () => void }) {
  const strings = useStrings();
  const { rename, isBusy, error } = useChangeConversation(item.id);
  const [title, setTitle] = useState(item.title);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.select(), []);
  return (
    <form
      className="grid gap-1 rounded-md border border-line-strong bg-surface p-1.5"
      onSubmit={(event) => {
        event.preventDefault();
        if (title.trim() !== '' && !isBusy) void rename(title.trim()).then((isDone) => isDone && onClose());
      }}
    >
      <input
        ref={field}
        dir="auto"
        maxLength={200}
        aria-label={strings.list.renameField}
        className="min-h-8 min-w-0 rounded-md bg-bg px-1.5 max-md:text-base"
        value={title}
        onChange={(event) => setTitle(event.target.value)}
      />
      {error !== null && (
        <p role="alert" className="text-xs text-red">
          {strings.list.renameFailed} {explainError(error, strings).message}
        </p>
      )}
      <div className="flex flex-wrap gap-1">
        <Button type="submit" aria-disabled={isBusy || title.trim() === ''}>
          {strings.list.save}
        </Button>
        <Button look="quiet" onClick={onClose}>
          {strings.app.cancel}
        </Button>
      </div>
    </form>
  );
}

function RemoveQuestion({ item, onClose }: { item: Conversation; onClose: () => void }) {
  const strings = useStrings();
  const { remove, isBusy, error } = useChangeConversation(item.id);
  const cancel = useRef<HTMLButtonElement>(null);
  useEffect(() => cancel.current?.focus(), []);
  return (
    <div
      role="group"
      aria-label={strings.list.removeOne(item.title.toWellFormed())}
      className="grid gap-1.5 rounded-md border border-red-line bg-red-soft p-2"
    >
      <p className="truncate font-medium" dir="auto">
        {item.title.toWellFormed()}
      </p>
      <p>
        {strings.list.removeQuestion} {item.activeTaskId !== null && strings.list.removeRunning}
      </p>
      {error !== null && (
        <p role="alert" className="text-red">
          {strings.list.removeFailed} {explainError(error, strings).message}
        </p>
      )}
      <div className="flex flex-wrap gap-1">
        <Button ref={cancel} onClick={onClose}>
          {strings.app.cancel}
        </Button>
        <Button look="danger" aria-disabled={isBusy} onClick={() => !isBusy && void remove()}>
          {strings.list.remove}
        </Button>
      </div>
    </div>
  );
}
