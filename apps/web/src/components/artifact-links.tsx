import type { ArtifactRef } from '@vitto/contracts';
import { artifactAddress } from '../api/vitto-api.ts';
import { formatBytes } from '../features/chat/model/format.ts';
import { useStrings } from '../i18n/strings-context.tsx';
import { Icon } from './icon.tsx';

export function ArtifactLinks({ artifacts }: { artifacts: readonly ArtifactRef[] }) {
  const strings = useStrings();
  return (
    <ul className="flex flex-wrap gap-2">
      {artifacts.map((artifact) => (
        <li key={artifact.id} className="min-w-0">
          <a
            href={artifactAddress(artifact.id)}
            download={artifact.name.toWellFormed()}
            className="inline-flex min-h-8 max-w-full items-center gap-2 rounded-md border border-line bg-surface px-2.5 hover:border-line-strong"
          >
            <Icon name="clip" className="text-accent" />
            <span className="sr-only">{strings.tool.download}</span>
            <span className="truncate" dir="auto">
              {artifact.name.toWellFormed()}
            </span>
            <span className="tabular shrink-0 text-muted">{formatBytes(artifact.bytes)}</span>
          </a>
        </li>
      ))}
    </ul>
  );
}
