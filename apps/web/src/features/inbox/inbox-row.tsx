import type { EventPayload, Task } from '@vitto/contracts';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { taskQuery } from '../../api/queries.ts';
import { useVitto } from '../../api/vitto-context.tsx';
import { Moment } from '../../components/moment.tsx';
import { useFeatureStrings } from '../../i18n/define-strings.ts';
import { useStrings } from '../../i18n/strings-context.tsx';
import { ThreadItem } from '../chat/items/thread-item.tsx';
import { ThreadActionsContext } from '../chat/thread-actions.ts';
import { AnswerForm } from './answer-form.tsx';
import { ExpiryMark } from './expiry-mark.tsx';
import type { InboxEntry } from './inbox-entry.ts';
import { inboxStrings } from './strings.ts';
import { toItem } from './to-item.ts';
import { useTaskAnswer } from './use-task-answer.ts';

interface InboxRowProps {
  entry: InboxEntry;
  isWaiting: boolean;
  decided: EventPayload<'approval.decided'> | undefined;
  /** The task that asks: `null` while it is on its way with others, `undefined` when it has to be asked for. */
  task: Task | null | undefined;
}

/** What asks, from where, and the same card as in the conversation. */
export function InboxRow({ entry, isWaiting, decided, task }: InboxRowProps) {
  const { api } = useVitto();
  const answer = useTaskAnswer(entry.taskId);
  const asked = useQuery({ ...taskQuery(api, entry.taskId), enabled: task === undefined });
  const item = toItem(entry, isWaiting, decided);
  const actions = { answer, edit: () => {}, retry: () => {}, whyNotEdit: 'running' } as const;
  return (
    <li className="appear grid min-w-0 grid-cols-[minmax(0,1fr)] gap-1.5">
      <Origin entry={entry} task={task ?? asked.data} isWaiting={isWaiting} />
      <ThreadActionsContext value={actions}>
        {entry.kind === 'question' ? (
          <div
            data-row={entry.id}
            tabIndex={-1}
            className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-2 rounded-lg"
          >
            <ThreadItem item={item} />
            {isWaiting && <AnswerForm onAnswer={(text) => answer(entry, text)} />}
          </div>
        ) : (
          <ThreadItem item={item} />
        )}
      </ThreadActionsContext>
    </li>
  );
}

function Origin(props: { entry: InboxEntry; task: Task | undefined; isWaiting: boolean }) {
  const { entry, task, isWaiting } = props;
  const strings = useFeatureStrings(inboxStrings);
  const shared = useStrings();
  const title = task === undefined ? '…' : task.title === '' ? shared.app.untitled : task.title;
  return (
    <div className="flex min-w-0 flex-wrap items-baseline gap-x-3 gap-y-0.5 px-1 text-sm">
      <span className="min-w-0 flex-1 basis-40 truncate font-medium" dir="auto">
        {title.toWellFormed()}
      </span>
      <span className="flex flex-wrap gap-x-3 text-muted">
        {isWaiting && entry.kind === 'approval' && <ExpiryMark at={entry.approval.expiresAt} />}
        <span>
          {strings.since} <Moment at={entry.at} />
        </span>
        {task?.conversationId != null && (
          <Link
            to="/vitto/c/$conversationId"
            params={{ conversationId: task.conversationId }}
            className="text-accent underline-offset-4 hover:underline"
          >
            {strings.openConversation}
          </Link>
        )}
        <Link
          to="/vitto/t/$taskId"
          params={{ taskId: entry.taskId }}
          className="text-accent underline-offset-4 hover:underline"
        >
          {strings.openTask}
        </Link>
      </span>
    </div>
  );
}
