import type { ArtifactRef } from '@vitto/contracts';
import { useMemo, useState } from 'react';
import { formatBytes } from '../../features/chat/model/format.ts';
import { useStrings } from '../../i18n/strings-context.tsx';
import { Button } from '../button.tsx';
import { FailureNote } from '../failure-note.tsx';
import { Markdown } from '../markdown.tsx';
import { WHOLE_MAX_BYTES, type ArtifactKind } from './choose-kind.ts';
import { LineList } from './line-list.tsx';
import { readSeparated, toTable, type Table } from './read-table.ts';
import { LineSplitter } from './split-lines.ts';
import { TableView } from './table-view.tsx';
import { useWholeText } from './use-whole-text.ts';
import { ViewSkeleton } from './view-skeleton.tsx';

interface WholeViewProps {
  artifact: ArtifactRef;
  kind: Extract<ArtifactKind, 'table' | 'json' | 'markdown'>;
}

/** A file of which something can be made: a table, a tree, a document. Its source is one click away. */
export function WholeView({ artifact, kind }: WholeViewProps) {
  const strings = useStrings();
  const [isSource, setSource] = useState(false);
  const text = useWholeText(artifact);
  const made = useMemo(
    () => (text.data === undefined ? null : make(kind, text.data, artifact)),
    [kind, text.data, artifact],
  );
  if (text.isError) {
    return (
      <div className="p-3">
        <FailureNote title={strings.artifact.failed} error={text.error as never}>
          <Button onClick={() => void text.refetch()}>{strings.app.retry}</Button>
        </FailureNote>
      </div>
    );
  }
  if (made === null || text.data === undefined) return <ViewSkeleton />;
  return (
    <>
      <div className="flex items-center gap-3 border-b border-line px-3 py-1.5 text-muted empty:hidden">
        {artifact.bytes > WHOLE_MAX_BYTES && (
          <span>{strings.artifact.partly(formatBytes(WHOLE_MAX_BYTES), formatBytes(artifact.bytes))}</span>
        )}
        {made.kind !== 'source' && (
          <Button
            look="quiet"
            className="ms-auto"
            aria-pressed={isSource}
            onClick={() => setSource(!isSource)}
          >
            {isSource ? strings.artifact.rendered : strings.artifact.source}
          </Button>
        )}
      </div>
      {made.kind === 'source' || isSource ? (
        <Source text={isSource ? text.data : made.text} label={artifact.name} />
      ) : made.kind === 'table' ? (
        <TableView table={made.table} label={artifact.name} />
      ) : (
        <div
          className="prose min-h-0 flex-1 overflow-auto p-4"
          tabIndex={0}
          role="group"
          aria-label={artifact.name}
        >
          <Markdown text={text.data} />
        </div>
      )}
    </>
  );
}

type Made =
  | { kind: 'table'; table: Table; text: string }
  | { kind: 'document'; text: string }
  | { kind: 'source'; text: string };

/** What does not hold what its name says is shown as it is. */
function make(kind: WholeViewProps['kind'], text: string, artifact: ArtifactRef): Made {
  if (kind === 'markdown') return { kind: 'document', text };
  if (kind === 'table') {
    const isTabs = artifact.mediaType.includes('tab') || artifact.name.toLowerCase().endsWith('.tsv');
    const table = readSeparated(text, isTabs ? '\t' : ',');
    return table === null ? { kind: 'source', text } : { kind: 'table', table, text };
  }
  try {
    const value: unknown = JSON.parse(text);
    const table = toTable(value);
    if (table !== null) return { kind: 'table', table, text };
    return { kind: 'source', text: JSON.stringify(value, null, 2) };
  } catch {
    return { kind: 'source', text };
  }
}

function Source({ text, label }: { text: string; label: string }) {
  const lines = useMemo(() => {
    const splitter = new LineSplitter();
    splitter.add(text);
    splitter.end();
    return splitter.lines;
  }, [text]);
  return <LineList lines={lines} label={label} />;
}
