import type { Task } from '@vitto/contracts';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { memo } from 'react';
import { useVitto } from '../../api/vitto-context.tsx';
import { Elapsed } from '../../components/elapsed.tsx';
import { Icon } from '../../components/icon.tsx';
import { useFeatureStrings } from '../../i18n/define-strings.ts';
import { useLanguage, useStrings } from '../../i18n/strings-context.tsx';
import { describeObject } from '../chat/model/describe-tool.ts';
import { formatCost, formatCount, formatDuration } from '../chat/model/format.ts';
import { BudgetBar } from './budget-bar.tsx';
import { lastCallQuery } from './last-call.ts';
import type { CurrentCall } from './model/live-tasks.ts';
import { StateMark } from './state-mark.tsx';
import { StopTask } from './stop-task.tsx';
import { agentsStrings } from './strings.ts';

/**
 * Columns of a row and of the heading above them; where the list is narrow, everything is below the title. The width of
 * the list counts, not of the window: the rail takes a quarter of a tablet.
 */
export const COLUMNS =
  '@min-[768px]:grid @min-[768px]:grid-cols-[9rem_minmax(0,1fr)_4rem_4rem_4rem_6rem_7rem] @min-[768px]:items-center @min-[768px]:gap-3';

interface AgentRowProps {
  task: Task;
  level: number;
  /** `undefined`: the stream has not said yet. */
  call: CurrentCall | null | undefined;
}

/** A task in one row: what it is, what it does, what it has used, and a way to stop it. */
export const AgentRow = memo(function AgentRow({ task, level, call }: AgentRowProps) {
  const strings = useFeatureStrings(agentsStrings);
  const shared = useStrings();
  const language = useLanguage();
  const title = (task.title === '' ? shared.app.untitled : task.title).toWellFormed();
  const isOver = task.endedAt !== null;
  return (
    <div
      className={`relative flex h-full flex-col justify-center gap-0.5 border-b border-line px-2 hover:bg-sunken ${COLUMNS}`}
    >
      <div
        className="hidden min-w-0 text-sm @min-[768px]:block"
        style={{ paddingInlineStart: `${level * 1.25}rem` }}
      >
        <StateMark state={task.state} />
      </div>
      <div className="min-w-0 pe-24 @min-[768px]:pe-0" style={{ paddingInlineStart: `${level * 1.25}rem` }}>
        <Link
          data-row={task.id}
          to="/vitto/t/$taskId"
          params={{ taskId: task.id }}
          preload={false}
          className="block truncate font-medium hover:underline"
          dir="auto"
        >
          {title}
        </Link>
        <div className="flex min-w-0 gap-2 text-xs text-muted">
          {task.role !== null && <span className="shrink-0">{task.role.toWellFormed()}</span>}
          <Doing task={task} call={call} />
        </div>
      </div>
      <div className="tabular flex min-w-0 gap-x-3 text-xs text-muted @min-[768px]:contents @min-[768px]:text-sm">
        <span className="@min-[768px]:hidden">
          <StateMark state={task.state} />
        </span>
        <span className="@min-[768px]:text-end">
          <Time task={task} />
        </span>
        <span className="@min-[768px]:text-end">
          {formatCount(task.spending.tokens, language)}
          <span className="@min-[768px]:sr-only"> {strings.columns.tokens.toLowerCase()}</span>
        </span>
        <span className="truncate @min-[768px]:text-end">
          {formatCost(task.spending.costUsd, '–', language)}
        </span>
        <span className="hidden @min-[768px]:block">{!isOver && <BudgetBar task={task} />}</span>
      </div>
      <div className="absolute end-2 top-2 flex items-center gap-1 rounded-md bg-bg @min-[768px]:top-1/2 @min-[768px]:-translate-y-1/2">
        {task.conversationId !== null && (
          <Link
            to="/vitto/c/$conversationId"
            params={{ conversationId: task.conversationId }}
            preload={false}
            aria-label={`${strings.conversation}: ${title}`}
            title={strings.conversation}
            className="hidden size-8 place-content-center rounded-md text-muted hover:text-ink sm:grid"
          >
            <Icon name="chat" />
          </Link>
        )}
        {!isOver && <StopTask taskId={task.id} title={title} />}
      </div>
    </div>
  );
});

function Time({ task }: { task: Task }) {
  if (task.endedAt !== null) {
    const from = task.startedAt ?? task.createdAt;
    return formatDuration(Date.parse(task.endedAt) - Date.parse(from));
  }
  return <Elapsed since={task.startedAt ?? task.createdAt} />;
}

/** The call that runs; of a finished task what it came to. */
function Doing({ task, call }: { task: Task; call: CurrentCall | null | undefined }) {
  const strings = useFeatureStrings(agentsStrings);
  const shared = useStrings();
  const { client } = useVitto();
  const isUnknown = task.state === 'running' && call === undefined;
  const asked = useQuery({ ...lastCallQuery(client, task.id), enabled: isUnknown });
  const text =
    task.error?.message ?? (task.waitingFor?.kind === 'input' ? task.waitingFor.question : task.result);
  if (task.state !== 'running') {
    return (
      <span className="min-w-0 truncate" dir="auto">
        {text == null ? null : toPreview(text)}
      </span>
    );
  }
  const current = call === undefined ? asked.data : call;
  if (current == null) return <span>{strings.thinking}</span>;
  return (
    <>
      <span className="shrink-0">{shared.tool.verbs[current.tool] ?? current.tool}</span>
      <span className="mono min-w-0 truncate text-xs!" dir="auto">
        {describeObject(current.arguments)}
      </span>
    </>
  );
}

/** The beginning of a text in one line, without the marks of its formatting. */
function toPreview(text: string): string {
  return text
    .slice(0, 300)
    .replaceAll(/\*\*|`|^#+ /gmu, '')
    .toWellFormed();
}
