import { page, task, type Task } from '@vitto/contracts';
import { useQuery } from '@tanstack/react-query';
import { toApiError } from '../../api/api-error.ts';
import { useVitto } from '../../api/vitto-context.tsx';
import { Button } from '../../components/button.tsx';
import { FailureNote } from '../../components/failure-note.tsx';
import { Icon } from '../../components/icon.tsx';
import { Page } from '../../components/page.tsx';
import { useFeatureStrings } from '../../i18n/define-strings.ts';
import { useStrings } from '../../i18n/strings-context.tsx';
import { InboxRow } from './inbox-row.tsx';
import { inboxStrings } from './strings.ts';
import { INBOX_KEY, useInbox } from './use-inbox.ts';
import { useKeptEntries, type KeptEntries } from './use-kept-entries.ts';

/** Everything that waits for the person, from all conversations and tasks, decided where it stands. */
export function InboxPage() {
  const strings = useFeatureStrings(inboxStrings);
  const shared = useStrings();
  const inbox = useInbox();
  const kept = useKeptEntries(inbox.data?.entries);
  return (
    <Page title={strings.title}>
      <div className="mx-auto grid max-w-3xl grid-cols-[minmax(0,1fr)] gap-6">
        {inbox.isError && (
          <FailureNote title={strings.failed} error={toApiError(inbox.error)}>
            <Button onClick={() => void inbox.refetch()}>{shared.app.retry}</Button>
          </FailureNote>
        )}
        {inbox.isPending && <Skeleton />}
        {inbox.isSuccess && <Summary kept={kept} />}
        <Entries kept={kept} />
        {inbox.data?.hasMore === true && <p className="text-muted">{strings.partOf}</p>}
      </div>
    </Page>
  );
}

function Summary({ kept }: { kept: KeptEntries }) {
  const strings = useFeatureStrings(inboxStrings);
  const count = kept.waiting.size;
  if (count > 0) {
    return (
      <p className="flex flex-wrap justify-between gap-x-4 text-muted" role="status">
        <span className="tabular">{strings.waiting(String(count))}</span>
        <span className="hidden md:inline">{strings.keys}</span>
      </p>
    );
  }
  if (kept.shown.length > 0) return <p role="status">{strings.nothingMore}</p>;
  return (
    <div className="grid justify-items-center gap-2 py-14 text-center" role="status">
      <Icon name="inbox" className="size-8 text-muted" />
      <p className="text-base font-semibold">{strings.nothing}</p>
      <p className="max-w-md text-balance text-muted">{strings.emptyHint}</p>
    </div>
  );
}

function Entries({ kept }: { kept: KeptEntries }) {
  const tasks = useAskingTasks(kept.shown.some((entry) => entry.kind === 'approval'));
  return (
    <ul className="grid grid-cols-[minmax(0,1fr)] gap-6">
      {kept.shown.map((entry) => (
        <InboxRow
          key={entry.id}
          entry={entry}
          isWaiting={kept.waiting.has(entry.id)}
          decided={kept.decisions.get(entry.id)}
          task={entry.kind === 'question' ? entry.task : tasks === null ? null : tasks.get(entry.taskId)}
        />
      ))}
    </ul>
  );
}

const taskPage = page(task);

/** The tasks behind the approvals in one request; `null` while they are on their way. */
function useAskingTasks(isNeeded: boolean): Map<string, Task> | null {
  const { client } = useVitto();
  const asking = useQuery({
    queryKey: [...INBOX_KEY, 'tasks'],
    queryFn: ({ signal }) =>
      client.send({ path: '/tasks?state=waiting_approval&limit=200', schema: taskPage, signal }),
    enabled: isNeeded,
  });
  return asking.data === undefined ? null : new Map(asking.data.items.map((one) => [one.id, one]));
}

function Skeleton() {
  const strings = useStrings();
  return (
    <div className="appear-late grid gap-6" role="status">
      <span className="sr-only">{strings.app.loading}</span>
      <span className="h-40 rounded-lg bg-sunken" />
      <span className="h-28 rounded-lg bg-sunken" />
    </div>
  );
}
