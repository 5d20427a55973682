import type { ArtifactRef } from '@vitto/contracts';
import { artifactAddress } from '../api/vitto-api.ts';
import { formatBytes } from '../features/chat/model/format.ts';
import { useStrings } from '../i18n/strings-context.tsx';
import { useArtifactOpener } from './artifact-opener.ts';
import { Icon } from './icon.tsx';

/** Files to look at, where the page has a place for it, and to download. */
export function ArtifactLinks({ artifacts }: { artifacts: readonly ArtifactRef[] }) {
  return (
    <ul className="flex min-w-0 flex-wrap gap-2">
      {artifacts.map((artifact) => (
        <li
          key={artifact.id}
          className="inline-flex min-h-8 max-w-full min-w-0 items-stretch rounded-md border border-line bg-surface hover:border-line-strong"
        >
          <OpenButton artifact={artifact} />
          <DownloadLink artifact={artifact} />
        </li>
      ))}
    </ul>
  );
}

function OpenButton({ artifact }: { artifact: ArtifactRef }) {
  const strings = useStrings();
  const open = useArtifactOpener();
  const name = artifact.name.toWellFormed();
  if (open === null) return null;
  return (
    <button
      type="button"
      aria-label={strings.artifact.open(name)}
      className="inline-flex min-w-0 items-center gap-2 rounded-md ps-2.5 pe-1"
      onClick={() => open(artifact.id)}
    >
      <Icon name="clip" className="text-accent" />
      <span className="truncate" dir="auto">
        {name}
      </span>
    </button>
  );
}

function DownloadLink({ artifact }: { artifact: ArtifactRef }) {
  const strings = useStrings();
  const name = artifact.name.toWellFormed();
  const isNamed = useArtifactOpener() !== null;
  return (
    <a
      href={artifactAddress(artifact.id)}
      download={name}
      title={strings.tool.download}
      className="inline-flex min-w-0 items-center gap-2 rounded-md px-2.5 hover:text-accent"
    >
      {!isNamed && <Icon name="clip" className="text-accent" />}
      <span className="sr-only">{strings.tool.download}</span>
      <span className={isNamed ? 'sr-only' : 'truncate'} dir="auto">
        {name}
      </span>
      <span className="tabular shrink-0 text-muted">{formatBytes(artifact.bytes)}</span>
      {isNamed && <Icon name="download" className="size-3.5" />}
    </a>
  );
}
