import { useRef, useState } from 'react';
import { settingsQuery } from '../../../api/queries.ts';
import { useVitto } from '../../../api/vitto-context.tsx';
import { Button } from '../../../components/button.tsx';
import { ExactText } from '../../../components/exact-text.tsx';
import { Icon } from '../../../components/icon.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { useStrings } from '../../../i18n/strings-context.tsx';
import { useQueryClient } from '@tanstack/react-query';
import { removeFolder, type FolderAccess, type FolderEdit } from '../../chat/folders/folder-access.ts';
import { FolderField } from '../../chat/folders/folder-field.tsx';
import { useFolderField } from '../../chat/folders/use-folder-field.ts';
import { useMayAllowFolders } from '../../chat/folders/use-may-allow.ts';
import { useSettingsChange } from '../settings-api.ts';
import { useAction } from '../use-action.ts';
import { generalStrings } from './strings.ts';

/** Folders that every conversation may read: nothing is shown before the server has it. */
export function EverywhereFolders({ folders }: { folders: readonly string[] }) {
  const words = useFeatureStrings(generalStrings);
  const strings = useStrings();
  const access = useEverywhereAccess(folders);
  const mayAllow = useMayAllowFolders();
  const [isAdding, setAdding] = useState(false);
  const opener = useRef<HTMLButtonElement>(null);
  const remove = async (path: string) => {
    if (await access.change(removeFolder(path))) opener.current?.focus();
  };
  return (
    <>
      {folders.length === 0 && mayAllow && <p className="text-muted">{words.foldersEmpty}</p>}
      <ul className="grid grid-cols-[minmax(0,1fr)] empty:hidden">
        {folders.map((path) => (
          <li key={path} className="flex min-h-9 items-center gap-2 border-b border-line py-1">
            <Icon name="folder" className="text-muted" />
            <span className="min-w-0 flex-1">
              <ExactText text={path} />
            </span>
            <Button
              look="quiet"
              className="size-8 px-0 hover:text-red"
              aria-label={strings.folders.remove(path.toWellFormed())}
              aria-disabled={access.isChanging}
              onClick={() => void remove(path)}
            >
              <Icon name="close" />
            </Button>
          </li>
        ))}
      </ul>
      {isAdding && <Adding access={access} onClose={() => setAdding(false)} />}
      {mayAllow ? (
        <Button
          ref={opener}
          className="justify-self-start"
          aria-expanded={isAdding}
          onClick={() => setAdding(!isAdding)}
        >
          {isAdding ? words.foldersDone : words.foldersAdd}
        </Button>
      ) : (
        <p className="text-muted">{words.foldersNotYours}</p>
      )}
    </>
  );
}

/** A section of its own: the field takes the focus when it appears. */
function Adding({ access, onClose }: { access: FolderAccess; onClose: () => void }) {
  const field = useFolderField(access);
  return (
    <section onKeyDown={(event) => event.key === 'Escape' && onClose()}>
      <FolderField access={access} field={field} />
    </section>
  );
}

function useEverywhereAccess(folders: readonly string[]): FolderAccess {
  const words = useFeatureStrings(generalStrings);
  const { api } = useVitto();
  const queries = useQueryClient();
  const change = useSettingsChange();
  const save = useAction(async (_key, edit: FolderEdit) => {
    // Another tab or the command line may have changed them since this page was loaded.
    const { allowedPaths } = await queries.fetchQuery({ ...settingsQuery(api), staleTime: 0 });
    return change({ allowedPaths: [...edit(allowedPaths)] });
  });
  return {
    folders,
    isChanging: save.isBusy,
    error: save.error,
    errorTitle: words.foldersFailed,
    isTaskRunning: false,
    change: async (edit) => (await save.run(edit)) !== null,
  };
}
