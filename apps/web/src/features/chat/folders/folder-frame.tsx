import { useQuery } from '@tanstack/react-query';
import { useId, useRef, useState, type ReactNode } from 'react';
import { settingsQuery } from '../../../api/queries.ts';
import { useVitto } from '../../../api/vitto-context.tsx';
import type { FolderAccess } from './folder-access.ts';
import { FolderBar } from './folder-bar.tsx';
import { FolderPanel } from './folder-panel.tsx';
import { useMayAllowFolders } from './use-may-allow.ts';

interface FolderFrameProps {
  access: FolderAccess;
  /** A message is on its way with these folders. */
  isLocked: boolean;
  /** Stands at the end of the line of folders. */
  hint: ReactNode;
  /** What the folders are for: where people write. */
  children: ReactNode;
}

/**
 * Around the composer: the folders below it, and above it the panel that changes them. A refusal opens it. Whoever may
 * allow none sees those that there are.
 */
export function FolderFrame({ access, isLocked, hint, children }: FolderFrameProps) {
  const everywhere = useSharedFolders(access.folders);
  const mayAllow = useMayAllowFolders();
  const isShown = mayAllow || access.folders.length + everywhere.length > 0;
  const [isOpen, setOpen] = useState(false);
  const [seenError, setSeenError] = useState(access.error);
  if (access.error !== seenError) {
    setSeenError(access.error);
    if (access.error !== null) setOpen(true);
  }
  const button = useRef<HTMLButtonElement>(null);
  const panelId = useId();
  const close = () => {
    setOpen(false);
    button.current?.focus();
  };
  const locked = { ...access, isChanging: access.isChanging || isLocked };
  return (
    <div className="mx-auto grid w-full max-w-3xl grid-cols-[minmax(0,1fr)] gap-2 px-4 pb-[max(0.75rem,env(safe-area-inset-bottom))]">
      {isOpen && (
        <FolderPanel
          id={panelId}
          access={locked}
          everywhere={everywhere}
          mayAllow={mayAllow}
          onClose={close}
        />
      )}
      {children}
      <div className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1">
        {isShown && (
          <FolderBar
            access={locked}
            everywhere={everywhere}
            panelId={panelId}
            isOpen={isOpen}
            onOpen={() => setOpen(true)}
            onClose={close}
            button={button}
          />
        )}
        {hint}
      </div>
    </div>
  );
}

/** What the settings allow in every conversation, unless this one allows it itself. */
function useSharedFolders(own: readonly string[]): readonly string[] {
  const { api } = useVitto();
  const settings = useQuery(settingsQuery(api));
  return (settings.data?.allowedPaths ?? []).filter((path) => !own.includes(path));
}
