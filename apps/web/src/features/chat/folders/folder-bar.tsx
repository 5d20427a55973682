import type { RefObject } from 'react';
import { Button } from '../../../components/button.tsx';
import { Icon } from '../../../components/icon.tsx';
import { useStrings } from '../../../i18n/strings-context.tsx';
import { removeFolder, type FolderAccess } from './folder-access.ts';
import { shortenPaths } from './shorten-paths.ts';

/** So many stand beside the button; the others are in the panel. */
const SHOWN = 3;

interface FolderBarProps {
  access: FolderAccess;
  everywhere: readonly string[];
  panelId: string;
  isOpen: boolean;
  onOpen: () => void;
  onClose: () => void;
  button: RefObject<HTMLButtonElement | null>;
}

/** One line: the button that opens the panel, and the folders that can be read. */
export function FolderBar(props: FolderBarProps) {
  const strings = useStrings();
  const { access, everywhere, isOpen, onOpen, onClose, button } = props;
  const all = [...access.folders, ...everywhere];
  const names = shortenPaths(all);
  const rest = all.length - SHOWN;
  const remove = async (path: string) => {
    if (await access.change(removeFolder(path))) button.current?.focus();
  };
  return (
    <div className="-ms-2 flex min-w-0 flex-1 flex-wrap items-center gap-1.5">
      <Button
        ref={button}
        look="quiet"
        className="px-2"
        aria-label={strings.folders.open(all.length)}
        aria-expanded={isOpen}
        aria-controls={isOpen ? props.panelId : undefined}
        onClick={isOpen ? onClose : onOpen}
        onKeyDown={(event) => event.key === 'Escape' && isOpen && onClose()}
      >
        <Icon name="folder" />
        {strings.folders.button}
      </Button>
      {all.slice(0, SHOWN).map((path, at) => (
        <Chip
          key={path}
          path={path}
          name={names[at] ?? path}
          isBusy={access.isChanging}
          onRemove={at < access.folders.length ? () => void remove(path) : null}
        />
      ))}
      {rest > 0 && (
        <Button look="quiet" className="px-2" aria-label={strings.folders.more(rest)} onClick={onOpen}>
          +{rest}
        </Button>
      )}
    </div>
  );
}

/** A folder by its short name. One that every conversation may read cannot be removed here. */
function Chip(props: { path: string; name: string; isBusy: boolean; onRemove: (() => void) | null }) {
  const strings = useStrings();
  const path = props.path.toWellFormed();
  return (
    <span
      title={props.onRemove === null ? `${path} (${strings.folders.everywhere})` : path}
      className="inline-flex min-h-7 max-w-36 min-w-0 sm:max-w-52 items-center rounded-md border border-line bg-surface text-muted"
    >
      <span className={`mono truncate ps-2 ${props.onRemove === null ? 'pe-2' : ''}`} dir="ltr">
        {props.name.toWellFormed()}
      </span>
      {props.onRemove !== null && (
        <button
          type="button"
          aria-label={strings.folders.remove(path)}
          aria-disabled={props.isBusy}
          className="grid size-7 shrink-0 place-content-center rounded-md hover:text-red aria-disabled:opacity-60"
          onClick={() => !props.isBusy && props.onRemove?.()}
        >
          <Icon name="close" className="size-3.5" />
        </button>
      )}
    </span>
  );
}
