import { Link } from '@tanstack/react-router';
import { memo, useRef, useState } from 'react';
import { Elapsed } from '../../../components/elapsed.tsx';
import { Icon, type IconName } from '../../../components/icon.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { formatDuration } from '../model/format.ts';
import { hasEnded, isAtWork, type AgentState, type AgentView } from '../model/agents-item.ts';
import { AgentNotes, AgentPlace, AgentWork } from './agent-facts.tsx';
import { SteerForm } from './steer-form.tsx';
import { StopQuestion } from './stop-question.tsx';
import { groupStrings } from './strings.ts';

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
export const AgentRow = memo(function AgentRow(props: { agent: AgentView; waitsFor: number }) {
  const { agent, waitsFor } = props;
  const strings = useFeatureStrings(groupStrings);
  const [panel, setPanel] = useState<'steer' | 'stop' | null>(null);
  const [isStopping, setStopping] = useState(false);
  const opener = useRef<HTMLButtonElement>(null);
  const isEnded = hasEnded(agent);
  const roles: Record<string, string> = strings.roles;
  const role = agent.role === null ? strings.agent : (roles[agent.role] ?? agent.role);
  const name = agent.title === '' ? role : agent.title.toWellFormed();
  const close = () => {
    setPanel(null);
    opener.current?.focus();
  };
  const toggle = (which: 'steer' | 'stop') => (event: React.MouseEvent<HTMLButtonElement>) => {
    opener.current = event.currentTarget;
    setPanel(panel === which ? null : which);
  };
  return (
    <li
      className="min-w-0 px-3 py-2 [contain-intrinsic-size:auto_44px] [content-visibility:auto] max-sm:[contain-intrinsic-size:auto_66px]"
      data-agent={agent.id}
      data-state={agent.state}
      data-open={isEnded ? undefined : ''}
    >
      <div className="grid grid-cols-[minmax(0,1fr)_auto] items-center gap-x-2.5">
        <Head agent={agent} role={role} name={name} />
        <div className="row-start-2 flex min-w-0 gap-x-1.5 text-sm max-sm:col-span-2 max-sm:flex-col">
          <p className="flex h-5.5 max-w-full min-w-0 shrink-0 items-center gap-1.5">
            <State agent={agent} waitsFor={waitsFor} isStopping={isStopping && !isEnded} />
            <AgentPlace agent={agent} />
          </p>
          <AgentWork agent={agent} />
        </div>
        {!isEnded && (
          <span className="col-start-2 row-span-2 row-start-1 flex max-sm:row-span-1 max-sm:-my-1.25">
            <RowButton
              icon="chat"
              label={strings.steerThis(name)}
              isOpen={panel === 'steer'}
              onClick={toggle('steer')}
            />
            <RowButton
              icon="stop"
              label={strings.stopThis(name)}
              isOpen={panel === 'stop'}
              isDisabled={isStopping}
              onClick={toggle('stop')}
            />
          </span>
        )}
      </div>
      <AgentNotes agent={agent} />
      {!isEnded && panel === 'steer' && <SteerForm taskId={agent.id} name={name} onClose={close} />}
      {!isEnded && panel === 'stop' && (
        <StopQuestion taskId={agent.id} name={name} onBusy={setStopping} onClose={close} />
      )}
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

function RowButton(props: {
  icon: IconName;
  label: string;
  isOpen: boolean;
  isDisabled?: boolean;
  onClick: (event: React.MouseEvent<HTMLButtonElement>) => void;
}) {
  return (
    <button
      type="button"
      aria-label={props.label}
      title={props.label}
      aria-expanded={props.isOpen}
      aria-disabled={props.isDisabled === true || undefined}
      onClick={(event) => props.isDisabled !== true && props.onClick(event)}
      className="inline-flex size-8 items-center justify-center rounded-md text-muted hover:bg-sunken hover:text-ink focus-visible:outline-offset-[-2px] aria-disabled:opacity-60"
    >
      <Icon name={props.icon} />
    </button>
  );
}
