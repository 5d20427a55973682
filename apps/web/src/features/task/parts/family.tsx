import type { Task } from '@vitto/contracts';
import { useEffect, useMemo, useState } from 'react';
import { serverNow } from '../../../api/server-clock.ts';
import { Button } from '../../../components/button.tsx';
import { FailureNote } from '../../../components/failure-note.tsx';
import { Section } from '../../../components/section.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { useStrings } from '../../../i18n/strings-context.tsx';
import { hasDeployed } from '../../agents/read-family.ts';
import type { FamilyState, FamilyStore } from '../family-store.ts';
import { listFamily } from '../model/family-rows.ts';
import { taskStrings } from '../strings.ts';
import { FamilyChart } from './family-chart.tsx';
import { FamilyTable } from './family-table.tsx';

/** Those that a task has deployed, over time; the same figures as a table a key press away. */
export function Family({ task, state, store }: { task: Task; state: FamilyState; store: FamilyStore }) {
  const { family } = useFeatureStrings(taskStrings);
  const shared = useStrings();
  const [isTable, setTable] = useState(false);
  const rows = useMemo(() => listFamily(task.id, state.tasks.values()), [task.id, state.tasks]);
  const now = useNow(rows.some((row) => row.task.endedAt === null));
  if (state.status === 'error') {
    return (
      <FailureNote title={family.failed} error={state.error}>
        <Button onClick={() => void store.load()}>{shared.app.retry}</Button>
      </FailureNote>
    );
  }
  // Most tasks have deployed nobody: nothing is kept free for that.
  if (rows.length === 0) return state.status === 'loading' && hasDeployed(task) ? <Skeleton /> : null;
  return (
    <Section
      title={family.title(rows.length)}
      actions={
        <Button onClick={() => setTable(!isTable)}>{isTable ? family.asChart : family.asTable}</Button>
      }
    >
      {isTable ? <FamilyTable rows={rows} now={now} /> : <FamilyChart rows={rows} now={now} />}
    </Section>
  );
}

/** The time, each second while somebody works. */
function useNow(isLive: boolean): number {
  const [now, setNow] = useState(serverNow);
  useEffect(() => {
    if (!isLive) return;
    const timer = window.setInterval(() => setNow(serverNow()), 1000);
    return () => window.clearInterval(timer);
  }, [isLive]);
  return now;
}

function Skeleton() {
  const strings = useStrings();
  return (
    <div className="appear-late grid gap-2" role="status">
      <span className="sr-only">{strings.app.loading}</span>
      {/* As high as a round of four or five. */}
      <span className="h-52 rounded-lg bg-sunken" />
    </div>
  );
}
