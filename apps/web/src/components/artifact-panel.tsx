import { useQuery } from '@tanstack/react-query';
import type { Artifact } from '@vitto/contracts';
import { useEffect, useRef, type ReactNode } from 'react';
import type { ApiError } from '../api/api-error.ts';
import { readArtifactBytes, readArtifactFacts } from '../api/read-artifact.ts';
import { artifactAddress } from '../api/vitto-api.ts';
import { useVitto } from '../api/vitto-context.tsx';
import { formatBytes } from '../features/chat/model/format.ts';
import { useStrings } from '../i18n/strings-context.tsx';
import { chooseKind, WHOLE_MAX_BYTES } from './artifact/choose-kind.ts';
import { ViewSkeleton } from './artifact/view-skeleton.tsx';
import { ArtifactView } from './artifact-view.tsx';
import { Button } from './button.tsx';
import { CopyIcon } from './copy-icon.tsx';
import { FailureNote } from './failure-note.tsx';
import { Icon } from './icon.tsx';

/** A file beside the conversation; over all of it on a phone. Escape closes it, and the focus goes back. */
export function ArtifactPanel({ id, onClose }: { id: string; onClose: () => void }) {
  const strings = useStrings();
  const { client } = useVitto();
  const facts = useQuery({
    queryKey: ['artifact', id],
    queryFn: () => readArtifactFacts(client, id),
    staleTime: Infinity,
  });
  const panel = useRef<HTMLElement>(null);
  useFocusHere(panel);
  const artifact = facts.data;
  return (
    <aside
      ref={panel}
      tabIndex={-1}
      aria-label={strings.artifact.panel(artifact?.name.toWellFormed() ?? '')}
      className="flex min-w-0 flex-col border-s border-line bg-surface outline-none max-lg:fixed max-lg:inset-0 max-lg:z-30 max-lg:pb-[env(safe-area-inset-bottom)] lg:w-[46%]"
      onKeyDown={(event) => event.key === 'Escape' && onClose()}
    >
      <header className="flex min-h-11 items-center gap-1 border-b border-line ps-4 pe-2">
        <h2 className="min-w-0 flex-1 truncate font-semibold" dir="auto">
          {artifact?.name.toWellFormed()}
        </h2>
        {artifact !== undefined && <Tools artifact={artifact} />}
        <Button look="quiet" className="size-8 px-0" aria-label={strings.artifact.close} onClick={onClose}>
          <Icon name="close" />
        </Button>
      </header>
      <div className="flex min-h-0 flex-1 flex-col">
        {facts.isPending && <ViewSkeleton />}
        {facts.isError && <Trouble error={facts.error as ApiError} onRetry={() => void facts.refetch()} />}
        {artifact !== undefined && <ArtifactView key={artifact.id} artifact={artifact} />}
      </div>
    </aside>
  );
}

function Tools({ artifact }: { artifact: Artifact }): ReactNode {
  const strings = useStrings();
  const { client } = useVitto();
  const kind = chooseKind(artifact);
  const isCopyable = kind !== 'image' && kind !== 'none' && artifact.bytes <= WHOLE_MAX_BYTES;
  const readAll = async () => {
    const bytes = await readArtifactBytes(client, artifact.id, { start: 0, end: artifact.bytes });
    return new TextDecoder().decode(bytes);
  };
  return (
    <>
      <span className="tabular shrink-0 text-muted">{formatBytes(artifact.bytes)}</span>
      {isCopyable && (
        <CopyIcon label={strings.artifact.copy} done={strings.artifact.copied} getText={readAll} />
      )}
      <a
        href={artifactAddress(artifact.id)}
        download={artifact.name.toWellFormed()}
        aria-label={`${strings.tool.download} ${artifact.name.toWellFormed()}`}
        title={strings.tool.download}
        className="grid size-8 place-content-center rounded-md text-muted hover:bg-sunken hover:text-ink"
      >
        <Icon name="download" />
      </a>
    </>
  );
}

function Trouble({ error, onRetry }: { error: ApiError; onRetry: () => void }) {
  const strings = useStrings();
  const isMissing = error.status === 404 || error.status === 400 || error.status === 422;
  return (
    <div className="p-3">
      {isMissing ? (
        <FailureNote title={strings.artifact.missing} hint={strings.artifact.missingHint} />
      ) : (
        <FailureNote title={strings.artifact.failed} error={error}>
          <Button onClick={onRetry}>{strings.app.retry}</Button>
        </FailureNote>
      )}
    </div>
  );
}

/** Takes the focus while it is there, and gives it back to what had it. */
function useFocusHere(panel: React.RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const before = document.activeElement;
    panel.current?.focus();
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, [panel]);
}
