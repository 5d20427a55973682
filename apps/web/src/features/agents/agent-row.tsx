import type { SubVittoRole, Task } from '@vitto/contracts';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { memo, type KeyboardEvent } from 'react';
import { useVitto } from '../../api/vitto-context.tsx';
import { Elapsed } from '../../components/elapsed.tsx';
import { Icon } from '../../components/icon.tsx';
import { useFeatureStrings } from '../../i18n/define-strings.ts';
import { useLanguage, useStrings, type Language } from '../../i18n/strings-context.tsx';
import { describeObject } from '../chat/model/describe-tool.ts';
import { formatCost, formatCount, formatDuration } from '../chat/model/format.ts';
import { BudgetBar } from './budget-bar.tsx';
import { lastCallQuery } from './last-call.ts';
import type { TaskRow } from './model/agent-rows.ts';
import type { CurrentCall } from './model/live-tasks.ts';
import { ownSpending } from './model/own-spending.ts';
import { StateMark } from './state-mark.tsx';
import { StopTask } from './stop-task.tsx';
import { agentsStrings } from './strings.ts';

/**
 * Columns of a row and of the heading above them; where the list is narrow, everything is below the title. The width of
 * the list counts, not of the window: the rail takes a quarter of a tablet.
 */
export const COLUMNS =
  '@min-[768px]:grid @min-[768px]:grid-cols-[10rem_minmax(0,1fr)_4rem_4rem_5.5rem_6rem_7rem] @min-[768px]:items-center @min-[768px]:gap-3';

interface AgentRowProps {
  task: Task;
  level: number;
  isOpen: boolean | null;
  /** `undefined`: the stream has not said yet. */
  call: CurrentCall | null | undefined;
  onToggle: (row: TaskRow) => void;
}

/** A task in one row: what it is, what it does, what it has used, and a way to stop it. Arrow keys open and close it. */
export const AgentRow = memo(function AgentRow({ task, level, isOpen, call, onToggle }: AgentRowProps) {
  const shared = useStrings();
  const language = useLanguage();
  const title = (task.title === '' ? shared.app.untitled : task.title).toWellFormed();
  const indent = { paddingInlineStart: `${level * 1.25}rem` };
  const toggle = () => onToggle({ kind: 'task', key: task.id, task, level, isOpen });
  const onKeyDown = (event: KeyboardEvent) => {
    const wanted = { ArrowRight: true, ArrowLeft: false }[event.key];
    if (wanted === undefined || isOpen === null || isOpen === wanted) return;
    event.preventDefault();
    toggle();
  };
  return (
    <div
      onKeyDown={onKeyDown}
      className={`relative flex h-full flex-col justify-center gap-0.5 border-b border-line px-2 hover:bg-sunken ${COLUMNS}`}
    >
      <div className="hidden min-w-0 items-center text-sm @min-[768px]:flex" style={indent}>
        <StateMark task={task} />
      </div>
      <div className="flex min-w-0 items-center gap-1 pe-24 @min-[768px]:pe-0" style={indent}>
        <Fold isOpen={isOpen} title={title} onToggle={toggle} />
        <div className="min-w-0 flex-1">
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
            <WhatItIs task={task} />
            <Doing task={task} call={call} />
          </div>
        </div>
      </div>
      <div
        className="tabular flex min-w-0 gap-x-3 text-xs text-muted @min-[768px]:contents @min-[768px]:text-sm"
        style={indent}
      >
        <span className="@min-[768px]:hidden">
          <StateMark task={task} />
        </span>
        <span className="@min-[768px]:text-end">
          <Time task={task} />
        </span>
        <Used task={task} language={language} />
        <span className="hidden @min-[768px]:block">
          {task.endedAt === null && <BudgetBar task={task} />}
        </span>
      </div>
      <RowActions task={task} title={title} />
    </div>
  );
});

/** Opens and closes what is below a row; where nothing is, its place is kept free so that titles stand in line. */
function Fold(props: { isOpen: boolean | null; title: string; onToggle: () => void }) {
  const strings = useFeatureStrings(agentsStrings);
  if (props.isOpen === null) return null;
  return (
    <button
      type="button"
      aria-expanded={props.isOpen}
      aria-label={strings.below(props.title)}
      onClick={props.onToggle}
      className="-ms-1.5 grid size-7 shrink-0 place-content-center rounded-md text-muted hover:text-ink"
    >
      <Icon name="chevron" className={`size-3.5 transition-transform ${props.isOpen ? 'rotate-90' : ''}`} />
    </button>
  );
}

/** Of a sub-Vitto its role, where it works and its round; of others the role alone. */
function WhatItIs({ task }: { task: Task }) {
  const strings = useFeatureStrings(agentsStrings);
  const words = [
    task.role === null ? null : (strings.roles[task.role as SubVittoRole] ?? task.role.toWellFormed()),
    task.depth > 0 && task.tier !== null ? strings.tiers[task.tier] : null,
    task.round !== null && task.round > 1 ? strings.round(task.round) : null,
  ].filter((word) => word !== null);
  return words.length === 0 ? null : <span className="shrink-0">{words.join(' · ')}</span>;
}

/** Its own tokens and money, and of a parent what was spent below it. */
function Used({ task, language }: { task: Task; language: Language }) {
  const strings = useFeatureStrings(agentsStrings);
  const own = ownSpending(task);
  const below = task.spentBelow;
  const isParent = below.tokens > 0;
  const tokens = (count: number) => formatCount(count, language);
  const cost = (usd: number | null) => formatCost(usd, '–', language);
  return (
    <>
      {/* Where there is no room for all of it, money says more. */}
      <span className={`whitespace-nowrap @min-[768px]:text-end ${isParent ? 'max-sm:sr-only' : ''}`}>
        {tokens(own.tokens)}
        <span className="@min-[768px]:sr-only"> {strings.columns.tokens.toLowerCase()}</span>
        {isParent && <Below text={`+ ${tokens(below.tokens)}`} name={strings.tokensBelow} />}
      </span>
      <span className="whitespace-nowrap @min-[768px]:text-end">
        {cost(own.costUsd)}
        {isParent && <Below text={`+ ${cost(below.costUsd)}`} name={strings.costBelow} />}
      </span>
    </>
  );
}

function Below({ text, name }: { text: string; name: string }) {
  return (
    <span className="text-xs whitespace-nowrap text-muted @min-[768px]:block" title={name}>
      {' '}
      {text} <span className="sr-only">{name}</span>
    </span>
  );
}

function RowActions({ task, title }: { task: Task; title: string }) {
  const strings = useFeatureStrings(agentsStrings);
  return (
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
      {task.endedAt === null && <StopTask taskId={task.id} title={title} />}
    </div>
  );
}

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
