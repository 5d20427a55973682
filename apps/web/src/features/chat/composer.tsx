import { MESSAGE_MAX_LENGTH } from '@vitto/contracts';
import { useEffect, useRef, type KeyboardEvent } from 'react';
import type { ApiError } from '../../api/api-error.ts';
import { Button } from '../../components/button.tsx';
import { FailureNote } from '../../components/failure-note.tsx';
import { Icon } from '../../components/icon.tsx';
import { useLanguage, useStrings } from '../../i18n/strings-context.tsx';
import type { FolderAccess } from './folders/folder-access.ts';
import { FolderFrame } from './folders/folder-frame.tsx';

export interface ComposerProps {
  text: string;
  onText: (text: string) => void;
  onSend: () => void;
  isSending: boolean;
  error: ApiError | null;
  placeholder: string;
  folders: FolderAccess;
}

/** Where people write. What is typed stays until it has arrived. */
export function Composer({ text, onText, onSend, isSending, error, placeholder, folders }: ComposerProps) {
  const strings = useStrings();
  const language = useLanguage();
  const area = useRef<HTMLTextAreaElement>(null);
  useSlashFocus(area);
  const isTooLong = text.length > MESSAGE_MAX_LENGTH;
  const maySend = text.trim() !== '' && !isTooLong && !isSending;

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') area.current?.blur();
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    if (maySend) onSend();
  };

  return (
    <FolderFrame
      access={folders}
      isLocked={isSending}
      hint={
        <p id="composer-keys" className="hidden text-xs text-muted md:block">
          {strings.composer.keys}
        </p>
      }
    >
      <form
        className="grid gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          if (maySend) onSend();
        }}
      >
        {error !== null && (
          <FailureNote title={strings.composer.failed} error={error}>
            <Button disabled={!maySend} onClick={onSend}>
              {strings.app.retry}
            </Button>
            <span className="self-center text-muted">{strings.composer.kept}</span>
          </FailureNote>
        )}
        {isTooLong && (
          <p role="alert" className="text-red">
            {strings.composer.tooLong(new Intl.NumberFormat(language).format(MESSAGE_MAX_LENGTH))}
          </p>
        )}
        <div className="flex items-end gap-2 rounded-xl border border-line-strong bg-surface p-1.5 focus-within:border-accent focus-within:outline-1 focus-within:outline-accent">
          <textarea
            ref={area}
            rows={1}
            dir="auto"
            aria-label={strings.composer.label}
            aria-keyshortcuts="/"
            aria-describedby="composer-keys"
            className="field-sizing-content max-h-[40dvh] min-h-9 flex-1 resize-none bg-transparent px-2 py-1.5 text-base leading-6 outline-none placeholder:text-muted"
            placeholder={placeholder}
            value={text}
            readOnly={isSending}
            aria-busy={isSending}
            onChange={(event) => onText(event.target.value)}
            onKeyDown={onKeyDown}
          />
          <Button
            type="submit"
            look="primary"
            className="size-9 px-0"
            disabled={!maySend}
            aria-label={isSending ? strings.composer.sending : strings.composer.send}
          >
            <Icon name="send" />
          </Button>
        </div>
      </form>
    </FolderFrame>
  );
}

/** `/` goes to the composer from anywhere that takes no text itself. */
function useSlashFocus(area: React.RefObject<HTMLTextAreaElement | null>): void {
  useEffect(() => {
    const onKey = (event: globalThis.KeyboardEvent) => {
      const target = event.target as HTMLElement | null;
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return;
      if (target?.closest('input, textarea, select, dialog, [contenteditable]') != null) return;
      event.preventDefault();
      area.current?.focus();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [area]);
}
