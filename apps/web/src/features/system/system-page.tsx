import type { SystemStatus } from '@vitto/contracts';
import { useQuery } from '@tanstack/react-query';
import { systemQuery } from '../../api/queries.ts';
import { toApiError } from '../../api/api-error.ts';
import { useVitto } from '../../api/vitto-context.tsx';
import { Button } from '../../components/button.tsx';
import { FailureNote } from '../../components/failure-note.tsx';
import { Page } from '../../components/page.tsx';
import { Facts, Section } from '../../components/section.tsx';
import { useFeatureStrings } from '../../i18n/define-strings.ts';
import { useStrings } from '../../i18n/strings-context.tsx';
import { formatBytes, formatDuration } from '../chat/model/format.ts';
import { MachineSection } from './machines/machine-section.tsx';
import { ModelTable } from './model-table.tsx';
import { PartList } from './part-list.tsx';
import { ProcessTable } from './process-table.tsx';
import { systemStrings } from './strings.ts';
import { TaskCounts } from './task-counts.tsx';
import { useAge } from './use-age.ts';

const REFRESH_MS = 5_000;

/** How the parts of the installation are, read anew every few seconds while somebody looks. */
export function SystemPage() {
  const strings = useFeatureStrings(systemStrings);
  const shared = useStrings();
  const { api } = useVitto();
  const system = useQuery({ ...systemQuery(api), staleTime: 0, refetchInterval: REFRESH_MS });
  const failure =
    system.isError || system.failureCount > 1 ? toApiError(system.error ?? system.failureReason) : null;
  return (
    <Page title={strings.title}>
      <div className="grid grid-cols-[minmax(0,1fr)] gap-8">
        {failure !== null && (
          <FailureNote title={system.data === undefined ? strings.failed : strings.stale} error={failure}>
            <Button onClick={() => void system.refetch()}>{shared.app.retry}</Button>
          </FailureNote>
        )}
        {system.data === undefined && failure === null && <Skeleton />}
        {system.data !== undefined && <Status status={system.data} readAt={system.dataUpdatedAt} />}
      </div>
    </Page>
  );
}

/** @param readAt when this page got the status, by its own clock. */
function Status({ status, readAt }: { status: SystemStatus; readAt: number }) {
  const strings = useFeatureStrings(systemStrings);
  return (
    <>
      <PartList status={status} />
      <MachineSection />
      <div className="grid grid-cols-[minmax(0,1fr)] gap-8 md:grid-cols-2">
        <QueueFacts queue={status.queue} />
        <DatabaseFacts database={status.database} />
      </div>
      <ProcessTable status={status} readAt={readAt} />
      <div className="grid grid-cols-[minmax(0,1fr)] gap-8 md:grid-cols-2">
        <ModelTable models={status.models} />
        <TaskCounts tasks={status.tasks} />
      </div>
      <p className="tabular text-muted">
        <About status={status} readAt={readAt} words={strings.about} />
      </p>
    </>
  );
}

function About(props: {
  status: SystemStatus;
  readAt: number;
  words: (version: string, age: string) => string;
}) {
  const age = useAge(props.status, props.readAt);
  return props.words(props.status.version, age(props.status.startedAt));
}

function QueueFacts({ queue }: { queue: SystemStatus['queue'] }) {
  const strings = useFeatureStrings(systemStrings);
  const oldest = queue.oldestQueuedMs;
  return (
    <Section title={strings.queue}>
      <Facts
        facts={[
          { label: strings.queued, value: queue.queued },
          { label: strings.oldest, value: oldest === null ? strings.nothingQueued : formatDuration(oldest) },
          { label: strings.running, value: queue.running },
          { label: strings.waiting, value: queue.waiting },
        ]}
      />
    </Section>
  );
}

function DatabaseFacts({ database }: { database: SystemStatus['database'] }) {
  const strings = useFeatureStrings(systemStrings);
  return (
    <Section title={strings.database}>
      <Facts
        facts={[
          { label: strings.version, value: `PostgreSQL ${database.version}` },
          { label: strings.kind, value: strings.kinds[database.kind] },
          { label: strings.size, value: formatBytes(database.bytes) },
          { label: strings.connections, value: strings.of(database.connections, database.maxConnections) },
          { label: strings.roundTrip, value: `${database.roundTripMs.toFixed(1)} ms` },
        ]}
      />
    </Section>
  );
}

function Skeleton() {
  const strings = useStrings();
  return (
    <div className="appear-late grid gap-8" role="status">
      <span className="sr-only">{strings.app.loading}</span>
      <span className="grid gap-2 sm:grid-cols-2 lg:grid-cols-3">
        {Array.from({ length: 5 }, (_, i) => (
          <span key={i} className="h-24 rounded-lg bg-sunken" />
        ))}
      </span>
      <span className="grid gap-8 md:grid-cols-2">
        <span className="h-40 rounded-lg bg-sunken" />
        <span className="h-40 rounded-lg bg-sunken" />
      </span>
      <span className="h-32 rounded-lg bg-sunken" />
    </div>
  );
}
