import { useId, type ReactNode } from 'react';
import { Button } from '../../../components/button.tsx';
import { FailureNote } from '../../../components/failure-note.tsx';
import { ExactText } from '../../../components/exact-text.tsx';
import { Icon } from '../../../components/icon.tsx';
import { useStrings } from '../../../i18n/strings-context.tsx';
import { removeAllFolders, removeFolder, type FolderAccess, type FolderEdit } from './folder-access.ts';
import { FolderField } from './folder-field.tsx';
import { useFolderField } from './use-folder-field.ts';

interface FolderPanelProps {
  id: string;
  access: FolderAccess;
  everywhere: readonly string[];
  mayAllow: boolean;
  onClose: () => void;
}

/** Which folders can be read, what that means, and how to change it. Escape closes it. */
export function FolderPanel({ id, access, everywhere, mayAllow, onClose }: FolderPanelProps) {
  const strings = useStrings();
  const titleId = useId();
  const field = useFolderField(access);
  const change = async (edit: FolderEdit) => {
    if (await access.change(edit)) field.focus();
  };
  return (
    <section
      id={id}
      aria-labelledby={titleId}
      className="appear grid max-h-[55dvh] gap-3 overflow-y-auto rounded-xl border border-line-strong bg-surface p-3"
      onKeyDown={(event) => event.key === 'Escape' && onClose()}
    >
      <div className="flex items-start gap-2">
        <div className="min-w-0 flex-1">
          <h2 id={titleId} className="font-semibold">
            {strings.folders.title}
          </h2>
          <p className="text-muted">{strings.folders.explain}</p>
          {!mayAllow && <p className="mt-1 text-muted">{strings.folders.notYours}</p>}
          {access.isTaskRunning && <p className="mt-1 text-amber">{strings.folders.running}</p>}
        </div>
        <Button
          look="quiet"
          className="-me-1 -mt-1 size-8 px-0"
          aria-label={strings.folders.close}
          onClick={onClose}
        >
          <Icon name="close" />
        </Button>
      </div>
      {mayAllow ? (
        <FolderField access={access} field={field} />
      ) : (
        access.error !== null && <FailureNote title={access.errorTitle} error={access.error} />
      )}
      <ul className="grid empty:hidden">
        {access.folders.map((path) => (
          <Row key={path} path={path}>
            <Button
              look="quiet"
              className="size-7 min-h-7 px-0 hover:text-red"
              aria-label={strings.folders.remove(path.toWellFormed())}
              aria-disabled={access.isChanging}
              onClick={() => void change(removeFolder(path))}
            >
              <Icon name="close" />
            </Button>
          </Row>
        ))}
        {everywhere.map((path) => (
          <Row key={path} path={path}>
            <span className="shrink-0 text-xs text-muted">{strings.folders.everywhere}</span>
          </Row>
        ))}
      </ul>
      {access.folders.length > 1 && (
        <Button
          look="quiet"
          className="justify-self-end"
          aria-disabled={access.isChanging}
          onClick={() => void change(removeAllFolders)}
        >
          {strings.folders.removeAll}
        </Button>
      )}
    </section>
  );
}

function Row({ path, children }: { path: string; children: ReactNode }) {
  return (
    <li className="flex min-h-9 items-center gap-2 border-t border-line py-1">
      <Icon name="folder" className="text-muted" />
      <span className="min-w-0 flex-1">
        <ExactText text={path} />
      </span>
      {children}
    </li>
  );
}
