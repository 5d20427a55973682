import { Link } from '@tanstack/react-router';
import { memo } from 'react';
import { Elapsed } from '../../../components/elapsed.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { formatDuration } from '../model/format.ts';
import { hasEnded, isAtWork, type AgentState, type AgentView } from '../model/agents-item.ts';
import { ActButtons, ActPanel, useActs } from './agent-acts.tsx';
import { AgentNotes, AgentPlace, AgentWork } from './agent-facts.tsx';
import { groupStrings } from './strings.ts';
import { useFocusWithin } from './use-focus-within.ts';

const LOOKS: Record<AgentState, { dot: string; word: string }> = {
  waiting: { dot: 'bg-line-strong', word: 'text-muted' },
  running: { dot: 'live-dot', word: 'text-accent' },
  asking: { dot: 'bg-amber', word: 'text-amber' },
  question: { dot: 'bg-amber', word: 'text-amber' },
  deploying: { dot: 'bg-line-strong', word: 'text-muted' },
  done: { dot: 'bg-green', word: 'text-green' },
  unsuccessful: { dot: 'bg-amber', word: 'text-amber' },
  failed: { dot: 'bg-red', word: 'text-red' },
  cancelled: { dot: 'bg-line-strong', word: 'text-muted' },
  timeout: { dot: 'bg-red', word: 'text-red' },
};

/**
 * A sub-Vitto in two lines that are always there, so that nothing moves while they change: who and what for how long;
 * how it stands and what it is at. Drawn again only when it has changed.
 * @param waitsFor how many of those whose results it needs have not ended.
 */
export const AgentRow = memo(function AgentRow({ agent, waitsFor }: { agent: AgentView; waitsFor: number }) {
  const strings = useFeatureStrings(groupStrings);
  const focus = useFocusWithin(agent.state);
  const acts = useActs(focus.toName);
  const isEnded = hasEnded(agent);
  const roles: Record<string, string> = strings.roles;
  const role = agent.role === null ? strings.agent : (roles[agent.role] ?? agent.role);
  const name = agent.title === '' ? role : agent.title.toWellFormed();
  return (
    <li
      ref={focus.ref}
      onFocus={focus.onFocus}
      onBlur={focus.onBlur}
      className="min-w-0 px-3 py-2 [contain-intrinsic-size:auto_44px] [content-visibility:auto] max-sm:[contain-intrinsic-size:auto_66px]"
      data-agent={agent.id}
      data-state={agent.state}
      data-open={isEnded ? undefined : ''}
    >
      <div className="grid grid-cols-[minmax(0,1fr)_auto] items-center">
        <Head agent={agent} role={role} name={name} />
        <div className="row-start-2 flex min-w-0 gap-x-1.5 text-sm max-sm:col-span-2 max-sm:flex-col">
          <p className="flex h-5.5 max-w-full min-w-0 shrink-0 items-center gap-1.5">
            <State agent={agent} waitsFor={waitsFor} isStopping={acts.isStopping && !isEnded} />
            <AgentPlace agent={agent} />
          </p>
          <AgentWork agent={agent} />
        </div>
        {!isEnded && <ActButtons name={name} acts={acts} />}
      </div>
      <AgentNotes agent={agent} />
      <ActPanel agent={agent} name={name} acts={acts} />
    </li>
  );
});

function Head({ agent, role, name }: { agent: AgentView; role: string; name: string }) {
  const strings = useFeatureStrings(groupStrings);
  return (
    <p className="flex h-5.5 min-w-0 items-center gap-2">
      {agent.title !== '' && <span className="max-w-[40%] shrink-0 truncate text-muted">{role}</span>}
      <Link
        to="/vitto/t/$taskId"
        params={{ taskId: agent.id }}
        className="min-w-0 truncate font-medium hover:underline focus-visible:outline-offset-[-2px]"
        dir="auto"
      >
        {name}
      </Link>
      <span className="tabular ms-auto shrink-0 ps-2 text-sm text-muted">
        {isAtWork(agent) && agent.startedAt !== null && (
          <Elapsed since={agent.startedAt} label={strings.atWork} />
        )}
        {agent.durationMs !== null && agent.durationMs > 0 && formatDuration(agent.durationMs)}
      </span>
    </p>
  );
}

function State(props: { agent: AgentView; waitsFor: number; isStopping: boolean }) {
  const { agent, waitsFor, isStopping } = props;
  const strings = useFeatureStrings(groupStrings);
  const { dot, word } = isStopping ? LOOKS.waiting : LOOKS[agent.state];
  const isBlocked = agent.state === 'waiting' && waitsFor > 0;
  return (
    <span className={`flex max-w-full min-w-0 shrink-0 items-center gap-1.5 ${word}`}>
      <span className={`size-[7px] shrink-0 rounded-full ${dot}`} aria-hidden="true" />
      <span className="shrink-0">
        {isStopping ? strings.stopping : isBlocked ? strings.waitsFor(waitsFor) : strings.state[agent.state]}
      </span>
      {(agent.state === 'asking' || agent.state === 'question') && (
        <Link to="/vitto/inbox" className="min-w-0 truncate font-medium text-accent underline">
          {strings.answer}
        </Link>
      )}
    </span>
  );
}
