import type { SubVittoRole, Task } from '@vitto/contracts';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { memo, useEffect, useRef, useState } from 'react';
import { useVitto } from '../../api/vitto-context.tsx';
import { Elapsed } from '../../components/elapsed.tsx';
import { Icon } from '../../components/icon.tsx';
import { useFeatureStrings } from '../../i18n/define-strings.ts';
import { useLanguage, useStrings } from '../../i18n/strings-context.tsx';
import { lastCallQuery } from '../agents/last-call.ts';
import type { CurrentCall } from '../agents/model/live-tasks.ts';
import { ownSpending } from '../agents/model/own-spending.ts';
import { StateMark } from '../agents/state-mark.tsx';
import { StopTask } from '../agents/stop-task.tsx';
import { agentsStrings } from '../agents/strings.ts';
import { chooseToolIcon } from '../chat/items/tool-icon.ts';
import { describeObject, nameTool } from '../chat/model/describe-tool.ts';
import { formatCost, formatCount, formatDuration } from '../chat/model/format.ts';
import { NO_TAIL, toLines, type Tail } from './model/tail.ts';
import { liveStrings } from './strings.ts';

interface LiveColumnProps {
  task: Task;
  /** `undefined`: the stream has not said yet. */
  call: CurrentCall | null | undefined;
  tail: Tail;
  onDismiss: (ids: Iterable<string>) => void;
}

/** One task as it works. Each part has its height, so that nothing moves while it does. */
export const LiveColumn = memo(function LiveColumn({ task, call, tail, onDismiss }: LiveColumnProps) {
  const shared = useStrings();
  const strings = useFeatureStrings(liveStrings);
  const title = (task.title === '' ? shared.app.untitled : task.title).toWellFormed();
  const hasEnded = task.endedAt !== null;
  const { column, isInSight } = useInSight();
  return (
    <li
      ref={column}
      data-column={task.id}
      className={`live-column slide-in flex shrink-0 snap-start flex-col gap-2 rounded-lg border bg-surface p-3 sm:w-[22rem] ${hasEnded ? 'border-dashed border-line-strong bg-transparent' : 'border-line'}`}
    >
      <div className="flex min-h-7 items-center gap-2 text-sm">
        <StateMark task={task} />
        <span className="tabular ms-auto text-muted">
          <Time task={task} />
        </span>
        {hasEnded && (
          <button
            type="button"
            aria-label={strings.dismiss(title)}
            onClick={() => onDismiss([task.id])}
            className="-me-1.5 grid size-7 place-content-center rounded-md text-muted hover:text-ink"
          >
            <Icon name="close" className="size-3.5" />
          </button>
        )}
      </div>
      <div className="min-w-0">
        <Link
          data-row={task.id}
          to="/vitto/t/$taskId"
          params={{ taskId: task.id }}
          preload={false}
          title={title}
          className={`line-clamp-2 min-h-10 leading-5 font-medium hover:underline ${hasEnded ? 'text-muted' : ''}`}
          dir="auto"
        >
          {title}
        </Link>
        <WhatItIs task={task} />
      </div>
      <Doing task={task} call={call} />
      <TailBox tail={isInSight ? tail : NO_TAIL} isInSight={isInSight} title={title} hasEnded={hasEnded} />
      <Foot task={task} title={title} />
    </li>
  );
});

/** Of a hundred columns those are drawn with what they write that somebody sees, or is about to. */
function useInSight() {
  const column = useRef<HTMLLIElement>(null);
  const [isInSight, setInSight] = useState(false);
  useEffect(() => {
    if (column.current === null) return;
    const observer = new IntersectionObserver(([entry]) => setInSight(entry?.isIntersecting === true), {
      rootMargin: '400px',
    });
    observer.observe(column.current);
    return () => observer.disconnect();
  }, []);
  return { column, isInSight };
}

function Time({ task }: { task: Task }) {
  const from = task.startedAt ?? task.createdAt;
  if (task.endedAt === null) return <Elapsed since={from} />;
  return formatDuration(Date.parse(task.endedAt) - Date.parse(from));
}

/** Of whom it is, what for, where, and in which round. */
function WhatItIs({ task }: { task: Task }) {
  const strings = useFeatureStrings(liveStrings);
  const agents = useFeatureStrings(agentsStrings);
  const words = [
    strings.depths[task.depth],
    task.role === null ? null : (agents.roles[task.role as SubVittoRole] ?? task.role.toWellFormed()),
    task.tier === null ? null : agents.tiers[task.tier],
    task.round === null ? null : agents.round(task.round),
  ].filter((word) => word != null && word !== '');
  return <p className="min-h-5 truncate text-xs text-muted">{words.join(' · ')}</p>;
}

/** The call that runs, with its time; of what waits for what, and of what has ended what it came to. */
function Doing({ task, call }: { task: Task; call: CurrentCall | null | undefined }) {
  const strings = useFeatureStrings(liveStrings);
  const frame = 'flex min-h-8 items-center gap-2 rounded-md bg-sunken px-2 text-xs';
  if (task.endedAt !== null) {
    const text = task.error?.message ?? task.result ?? '';
    return (
      <p className={`${frame} ${task.error === null ? 'text-muted' : 'text-red'}`} dir="auto">
        <span className="truncate">{describeObject(text.slice(0, 2000))}</span>
      </p>
    );
  }
  if (task.state === 'waiting_approval' || task.state === 'waiting_input') {
    return (
      <p className={`${frame} bg-amber-soft text-amber`}>
        <Link to="/vitto/inbox" className="underline underline-offset-2">
          {strings.asks}
        </Link>
      </p>
    );
  }
  if (task.state !== 'running')
    return <p className={`${frame} text-muted`}>{strings.idle[task.state as 'queued']}</p>;
  return <Call task={task} call={call} frame={frame} />;
}

function Call({ task, call, frame }: { task: Task; call: CurrentCall | null | undefined; frame: string }) {
  const strings = useFeatureStrings(liveStrings);
  const shared = useStrings();
  const { client } = useVitto();
  const asked = useQuery({ ...lastCallQuery(client, task.id), enabled: call === undefined });
  const current = call === undefined ? asked.data : call;
  if (current == null) {
    return (
      <p className={`${frame} text-muted`}>
        <Icon name="pulse" /> {strings.idle.running}
      </p>
    );
  }
  const object = describeObject(current.arguments);
  return (
    <p className={frame} title={object}>
      <Icon name={chooseToolIcon(current.tool)} className="text-accent" />
      <span className="shrink-0">{nameTool(current.tool, shared.tool.verbs)}</span>
      <span className="mono min-w-0 flex-1 truncate text-xs!" dir="auto">
        {object}
      </span>
      <span className="text-muted">
        <Elapsed since={current.since} />
      </span>
    </p>
  );
}

/** The last lines that it wrote; the newest stand at the bottom. What is older is in its timeline. */
const TailBox = memo(function TailBox(props: {
  tail: Tail;
  title: string;
  hasEnded: boolean;
  isInSight: boolean;
}) {
  const { tail, title, hasEnded, isInSight } = props;
  const strings = useFeatureStrings(liveStrings);
  const lines = toLines(tail);
  return (
    <div
      role="group"
      aria-label={strings.tail(title)}
      className={`flex h-56 flex-col justify-end overflow-hidden rounded-md border border-line px-2 py-1.5 max-sm:h-40 ${hasEnded ? 'text-muted' : ''}`}
    >
      {isInSight && lines.length === 0 && (
        <p className="m-auto text-center text-xs text-balance text-muted">{strings.noTail}</p>
      )}
      <div className="shrink-0">
        {lines.map(({ source, text }, at) => (
          <p
            key={at}
            dir="auto"
            className={`[overflow-wrap:anywhere] whitespace-pre-wrap ${source === 'output' ? 'mono text-xs!' : 'text-sm'}`}
          >
            {text}
          </p>
        ))}
      </div>
    </div>
  );
});

function Foot({ task, title }: { task: Task; title: string }) {
  const strings = useFeatureStrings(liveStrings);
  const language = useLanguage();
  const own = ownSpending(task);
  const cost = (usd: number | null) => formatCost(usd, '–', language);
  return (
    <div className="flex min-h-8 flex-wrap items-center gap-x-3 gap-y-1 text-xs">
      <p className="tabular min-h-8 flex-1 text-muted">
        {strings.tokens(formatCount(own.tokens, language))} · {cost(own.costUsd)}
        {task.spentBelow.tokens > 0 && (
          <span className="block whitespace-nowrap">{strings.below(cost(task.spentBelow.costUsd))}</span>
        )}
      </p>
      <Link
        to="/vitto/t/$taskId"
        params={{ taskId: task.id }}
        preload={false}
        aria-label={strings.timelineOf(title)}
        className="text-accent underline-offset-4 hover:underline"
      >
        {strings.timeline}
      </Link>
      {task.endedAt === null && <StopTask taskId={task.id} title={title} />}
    </div>
  );
}
