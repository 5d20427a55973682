import type { ArtifactRef } from '@vitto/contracts';
import { useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import { useVitto } from '../../api/vitto-context.tsx';
import { useStrings } from '../../i18n/strings-context.tsx';
import { Button } from '../button.tsx';
import { FailureNote } from '../failure-note.tsx';
import { ArtifactReader } from './artifact-reader.ts';
import { LineList } from './line-list.tsx';
import { countChanges, looksLikeDiff, markDiff } from './read-diff.ts';
import type { TextLine } from './split-lines.ts';
import { ViewSkeleton } from './view-skeleton.tsx';

/** A file as lines, read on as somebody scrolls. One that is a diff is coloured as one. */
export function TextView({ artifact, isDiff }: { artifact: ArtifactRef; isDiff: boolean }) {
  const strings = useStrings();
  const { client } = useVitto();
  const [reader] = useState(() => new ArtifactReader(client, artifact));
  const state = useSyncExternalStore(reader.subscribe, reader.getState);
  useEffect(() => reader.readOn(), [reader]);

  if (state.lines.length === 0 && state.isReading) return <ViewSkeleton />;
  return (
    <>
      {state.error !== null && (
        <div className="p-3">
          <FailureNote title={strings.artifact.failed} error={state.error}>
            <Button onClick={reader.readOn}>{strings.app.retry}</Button>
          </FailureNote>
        </div>
      )}
      {isDiff || looksLikeDiff(state.lines) ? (
        <Diff lines={state.lines} label={artifact.name} onNearEnd={reader.readOn} isWhole={state.isWhole} />
      ) : (
        <LineList
          lines={state.lines}
          label={artifact.name}
          {...(state.error === null ? { onNearEnd: reader.readOn } : {})}
        />
      )}
    </>
  );
}

function Diff(props: { lines: readonly TextLine[]; label: string; onNearEnd: () => void; isWhole: boolean }) {
  const strings = useStrings();
  const { lines, label, onNearEnd, isWhole } = props;
  const marks = useMemo(() => markDiff(lines), [lines]);
  const { added, removed } = useMemo(() => countChanges(marks), [marks]);
  return (
    <>
      {isWhole && (
        <p className="border-b border-line px-3 py-1.5 text-muted">
          {strings.artifact.changes(added, removed)}
        </p>
      )}
      <LineList lines={lines} marks={marks} label={label} onNearEnd={onNearEnd} />
    </>
  );
}
