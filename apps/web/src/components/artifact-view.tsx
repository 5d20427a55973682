import type { ArtifactRef } from '@vitto/contracts';
import { useStrings } from '../i18n/strings-context.tsx';
import { chooseKind } from './artifact/choose-kind.ts';
import { ImageView } from './artifact/image-view.tsx';
import { TextView } from './artifact/text-view.tsx';
import { WholeView } from './artifact/whole-view.tsx';

/** What a file holds, shown by its kind. It fills a column. */
export function ArtifactView({ artifact }: { artifact: ArtifactRef }) {
  const strings = useStrings();
  const kind = chooseKind(artifact);
  switch (kind) {
    case 'image':
      return <ImageView artifact={artifact} />;
    case 'table':
    case 'json':
    case 'markdown':
      return <WholeView artifact={artifact} kind={kind} />;
    case 'text':
    case 'diff':
      return <TextView artifact={artifact} isDiff={kind === 'diff'} />;
    case 'none':
      return <p className="p-4 text-muted">{strings.artifact.noView}</p>;
  }
}
