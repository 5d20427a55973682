import { useId } from 'react';
import { Button } from '../../../components/button.tsx';
import { FailureNote } from '../../../components/failure-note.tsx';
import { useStrings } from '../../../i18n/strings-context.tsx';
import type { FolderAccess } from './folder-access.ts';
import { MAX_FOLDERS } from './read-folder.ts';
import type { useFolderField } from './use-folder-field.ts';

/** Where a folder is typed, with what was wrong with it. */
export function FolderField(props: { access: FolderAccess; field: ReturnType<typeof useFolderField> }) {
  const strings = useStrings();
  const { access, field } = props;
  const inputId = useId();
  const noteId = useId();
  const { refusal } = field;
  const says = {
    'not-absolute': strings.folders.notAbsolute,
    known: strings.folders.known,
    'too-many': strings.folders.tooMany(MAX_FOLDERS),
  };
  return (
    <form
      className="grid gap-1.5"
      onBlur={(event) => {
        const isWithin = event.currentTarget.closest('section')?.contains(event.relatedTarget) === true;
        if (event.relatedTarget !== null && !isWithin) field.leave();
      }}
      onSubmit={(event) => {
        event.preventDefault();
        void field.add();
      }}
    >
      <label htmlFor={inputId} className="text-xs text-muted">
        {strings.folders.field}
      </label>
      <div className="flex gap-2">
        <input
          ref={field.input}
          id={inputId}
          className="mono min-h-9 min-w-0 flex-1 rounded-md border border-line-strong bg-bg px-2.5 placeholder:text-muted max-md:text-base"
          placeholder={strings.folders.placeholder}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          enterKeyHint="done"
          dir="ltr"
          value={field.text}
          aria-invalid={refusal !== null || access.error !== null}
          aria-describedby={noteId}
          onChange={(event) => field.write(event.target.value)}
        />
        <Button
          type="submit"
          className="min-h-9"
          aria-disabled={access.isChanging || field.text.trim() === ''}
        >
          {strings.folders.add}
        </Button>
      </div>
      <div id={noteId} className="grid gap-1.5 empty:hidden">
        {refusal !== null && (
          <p role="alert" className="text-red">
            {says[refusal]}
          </p>
        )}
        {field.isLeft && <p className="text-amber">{strings.folders.pending}</p>}
        {access.error !== null && <FailureNote title={access.errorTitle} error={access.error} />}
      </div>
      <p role="status" className="sr-only">
        {field.added === null ? '' : strings.folders.added(field.added.toWellFormed())}
      </p>
    </form>
  );
}
