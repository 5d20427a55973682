import { MESSAGE_MAX_LENGTH } from '@vitto/contracts';
import { useEffect, useRef, type ClipboardEvent, type KeyboardEvent, type RefObject } from 'react';
import { Button } from '../../components/button.tsx';
import { FailureNote } from '../../components/failure-note.tsx';
import { Icon } from '../../components/icon.tsx';
import { useLanguage, useStrings } from '../../i18n/strings-context.tsx';
import { AttachButton } from './attachments/attach-button.tsx';
import { AttachmentBar } from './attachments/attachment-bar.tsx';
import type { Uploads } from './attachments/use-uploads.ts';
import { EditStrip } from './edit-strip.tsx';
import type { FolderAccess } from './folders/folder-access.ts';
import { FolderFrame } from './folders/folder-frame.tsx';
import { isFolderRefusal } from './folders/folder-access.ts';
import type { useSend } from './use-send.ts';

export interface ComposerProps {
  sending: ReturnType<typeof useSend>;
  uploads: Uploads;
  placeholder: string;
  folders: FolderAccess;
}

/** Where people write. What is typed and attached stays until it has arrived. */
export function Composer({ sending, uploads, placeholder, folders }: ComposerProps) {
  const strings = useStrings();
  const area = useRef<HTMLTextAreaElement>(null);
  const { draft, isSending } = sending;
  useEditFocus(area, draft.edit?.messageId ?? null);
  const isTooLong = draft.text.length > MESSAGE_MAX_LENGTH;
  const maySend = draft.text.trim() !== '' && !isTooLong && !isSending && !uploads.isUploading;

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
          if (maySend) sending.send();
        }}
      >
        <Trouble sending={sending} maySend={maySend} isTooLong={isTooLong} />
        {draft.edit !== null && <EditStrip onLeave={sending.leaveEdit} isBusy={isSending} />}
        <AttachmentBar
          files={draft.files}
          uploads={uploads}
          onRemove={(id) =>
            sending.change((now) => ({ ...now, files: now.files.filter((file) => file.id !== id) }))
          }
        />
        {uploads.isUploading && <p className="text-xs text-muted">{strings.attachments.waiting}</p>}
        <div className="flex items-end gap-1.5 rounded-xl border border-line-strong bg-surface p-1.5 focus-within:border-accent focus-within:outline-1 focus-within:outline-accent">
          <AttachButton isDisabled={isSending} onFiles={uploads.add} />
          <Field {...{ area, sending, uploads, maySend, placeholder }} />
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

interface FieldProps extends Pick<ComposerProps, 'sending' | 'uploads' | 'placeholder'> {
  area: RefObject<HTMLTextAreaElement | null>;
  maySend: boolean;
}

function Field({ area, sending, uploads, maySend, placeholder }: FieldProps) {
  const strings = useStrings();
  const { draft, isSending } = sending;
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') {
      if (draft.edit === null) area.current?.blur();
      else if (!isSending) sending.leaveEdit();
    }
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    if (maySend) sending.send();
  };
  const onPaste = (event: ClipboardEvent) => {
    const files = [...event.clipboardData.files];
    if (files.length === 0 || isSending) return;
    event.preventDefault();
    uploads.add(files);
  };
  return (
    <textarea
      ref={area}
      rows={1}
      dir="auto"
      aria-label={strings.composer.label}
      aria-keyshortcuts="/"
      aria-describedby="composer-keys"
      className="field-sizing-content max-h-[40dvh] min-h-9 min-w-0 flex-1 resize-none bg-transparent px-1 py-1.5 text-base leading-6 outline-none placeholder:text-muted"
      placeholder={placeholder}
      value={draft.text}
      readOnly={isSending}
      aria-busy={isSending}
      onChange={(event) => sending.change((now) => ({ ...now, text: event.target.value }))}
      onKeyDown={onKeyDown}
      onPaste={onPaste}
    />
  );
}

function Trouble(props: { sending: ComposerProps['sending']; maySend: boolean; isTooLong: boolean }) {
  const strings = useStrings();
  const language = useLanguage();
  const { sending, maySend, isTooLong } = props;
  // What a folder was refused for stands at the folders.
  const error = isFolderRefusal(sending.error) ? null : sending.error;
  return (
    <>
      {error !== null && (
        <FailureNote title={strings.composer.failed} error={error}>
          <Button disabled={!maySend} onClick={sending.send}>
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
    </>
  );
}

/** An edit that begins takes the focus here, with the cursor at the end. */
function useEditFocus(area: RefObject<HTMLTextAreaElement | null>, messageId: string | null): void {
  useEffect(() => {
    const element = area.current;
    if (messageId === null || element === null) return;
    element.focus();
    element.setSelectionRange(element.value.length, element.value.length);
  }, [area, messageId]);
}
