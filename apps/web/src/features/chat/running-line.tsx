import { useQuery } from '@tanstack/react-query';
import type { Spending } from '@vitto/contracts';
import { useRef, useState } from 'react';
import { toApiError, type ApiError } from '../../api/api-error.ts';
import { taskQuery } from '../../api/queries.ts';
import { useVitto } from '../../api/vitto-context.tsx';
import { Button } from '../../components/button.tsx';
import { Elapsed } from '../../components/elapsed.tsx';
import { FailureNote } from '../../components/failure-note.tsx';
import { Icon } from '../../components/icon.tsx';
import { useLanguage, useStrings } from '../../i18n/strings-context.tsx';
import type { Strings } from '../../i18n/strings.en.ts';
import { describeActivity, type Activity } from './model/active-task.ts';
import { describeObject, nameTool } from './model/describe-tool.ts';
import { formatCost, formatCount } from './model/format.ts';
import type { ConversationView, TaskView } from './model/view.ts';

/** How often the server is asked what a task's agents have used. */
const REFRESH_MS = 5_000;

/** What runs now, for how long, at what cost, and how to stop it. */
export function RunningLine({ view, task }: { view: ConversationView; task: TaskView }) {
  const strings = useStrings();
  const language = useLanguage();
  const { api } = useVitto();
  // Of a long task only the end of the journal may be here: then the server says what it has used.
  // What its agents have used before the page was opened stands in their journals, which are not read here.
  const hasAgents = view.items.some((item) => item.kind === 'agents' && item.taskId === task.id);
  const asked = useQuery({
    ...taskQuery(api, task.id),
    enabled: !task.isWhole || hasAgents,
    refetchInterval: hasAgents && task.state === 'waiting_children' && REFRESH_MS,
  });
  const spending = findSpending(task, asked.data?.spending ?? null);
  const startedAt = task.startedAt ?? asked.data?.startedAt ?? null;
  const activity = describeActivity(view, task);
  const { stop, isStopping, error } = useStop(task.id);
  const isAsking =
    task.state === 'waiting_approval' || task.state === 'waiting_input' || activity.kind === 'agents-ask';

  return (
    <div className="mx-auto grid w-full max-w-3xl grid-cols-[minmax(0,1fr)] gap-2 px-4 py-2">
      {error !== null && <FailureNote title={strings.running.cancelFailed} error={error} />}
      <div
        className={`flex min-w-0 items-center gap-3 rounded-lg border px-3 py-1.5 ${isAsking ? 'border-amber-line bg-amber-soft' : 'border-line bg-surface'}`}
      >
        <span
          className={
            isAsking
              ? 'size-[7px] shrink-0 rounded-full bg-amber-line'
              : isStopping
                ? 'size-[7px] shrink-0 rounded-full bg-line-strong'
                : 'live-dot shrink-0'
          }
        />
        {isStopping ? (
          <span className="flex-1 text-muted">{strings.running.stopping}</span>
        ) : (
          <ActivityText activity={activity} strings={strings} />
        )}
        <span className="tabular flex shrink-0 items-center gap-3 text-muted">
          {spending !== null && spending.tokens > 0 && (
            <span className="hidden sm:inline">
              {strings.end.tokens(formatCount(spending.tokens, language))} ·{' '}
              {formatCost(spending.costUsd, strings.end.costUnknown, language)}
            </span>
          )}
          {startedAt !== null && <Elapsed since={startedAt} label={strings.running.elapsed} />}
        </span>
        <Button look="danger" disabled={isStopping} onClick={stop}>
          <Icon name="stop" />
          {isStopping ? strings.running.stopping : strings.running.stop}
        </Button>
      </div>
    </div>
  );
}

function ActivityText({ activity, strings }: { activity: Activity; strings: Strings }) {
  if (activity.kind === 'state') return <span className="flex-1">{strings.running[activity.state]}</span>;
  if (activity.kind === 'agents')
    return <span className="tabular flex-1">{strings.running.agents(activity.count)}</span>;
  if (activity.kind === 'agents-ask')
    return <span className="tabular flex-1">{strings.running.agentsAsk(activity.count)}</span>;
  if (activity.kind !== 'tools') return <span className="flex-1">{strings.running[activity.kind]}</span>;
  const [first, ...others] = activity.items;
  if (first === undefined) return null;
  const { tool, arguments: args } = first;
  return (
    <span className="flex min-w-0 flex-1 items-baseline gap-2">
      <span className="max-w-[50%] shrink-0 truncate" dir="auto">
        {nameTool(tool, strings.tool.verbs)}
      </span>
      <span className="mono min-w-0 truncate text-muted" dir="auto">
        {describeObject(args)}
      </span>
      {others.length > 0 && (
        <span className="shrink-0 text-muted">{strings.running.more(others.length)}</span>
      )}
    </span>
  );
}

/** What was seen here is a part of what was used, and the server's answer is of a moment ago: the greater is the newer. */
function findSpending({ isWhole, spending }: TaskView, asked: Spending | null): Spending | null {
  if (!isWhole) return asked;
  return asked !== null && asked.tokens > spending.tokens ? asked : spending;
}

function useStop(taskId: string): { stop: () => void; isStopping: boolean; error: ApiError | null } {
  const { api } = useVitto();
  const [isStopping, setStopping] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const isSent = useRef(false);
  const stop = () => {
    if (isSent.current) return;
    isSent.current = true;
    setStopping(true);
    setError(null);
    // Stays disabled: the line goes when the task's end comes in.
    void api.cancelTask(taskId, crypto.randomUUID()).catch((failure: unknown) => {
      isSent.current = false;
      setStopping(false);
      setError(toApiError(failure));
    });
  };
  return { stop, isStopping, error };
}
