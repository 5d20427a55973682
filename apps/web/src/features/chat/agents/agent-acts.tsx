import { useRef, useState, type MouseEvent } from 'react';
import { Icon, type IconName } from '../../../components/icon.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { hasEnded, type AgentView } from '../model/agents-item.ts';
import { SteerForm } from './steer-form.tsx';
import { StopQuestion } from './stop-question.tsx';
import { groupStrings } from './strings.ts';

type Acts = ReturnType<typeof useActs>;

/**
 * What a person can do with one sub-Vitto, and which of it is open below its row.
 * @param onLost gives the focus to something when the button that opened it is gone.
 */
export function useActs(onLost: () => void) {
  const [open, setOpen] = useState<'steer' | 'stop' | null>(null);
  const [isStopping, setStopping] = useState(false);
  const opener = useRef<HTMLButtonElement>(null);
  return {
    open,
    isStopping,
    setStopping,
    toggle: (which: 'steer' | 'stop') => (event: MouseEvent<HTMLButtonElement>) => {
      opener.current = event.currentTarget;
      setOpen(open === which ? null : which);
    },
    close: () => {
      setOpen(null);
      if (opener.current?.isConnected === true) opener.current.focus();
      else onLost();
    },
  };
}

/** On a phone they stand in the first line, and take no more height than it has. */
export function ActButtons({ name, acts }: { name: string; acts: Acts }) {
  const strings = useFeatureStrings(groupStrings);
  return (
    <span className="col-start-2 row-span-2 row-start-1 ms-2.5 flex max-sm:row-span-1 max-sm:-my-1.25">
      <ActButton
        icon="chat"
        label={strings.steerThis(name)}
        isOpen={acts.open === 'steer'}
        onClick={acts.toggle('steer')}
      />
      <ActButton
        icon="stop"
        label={strings.stopThis(name)}
        isOpen={acts.open === 'stop'}
        isDisabled={acts.isStopping}
        onClick={acts.toggle('stop')}
      />
    </span>
  );
}

function ActButton(props: {
  icon: IconName;
  label: string;
  isOpen: boolean;
  isDisabled?: boolean;
  onClick: (event: MouseEvent<HTMLButtonElement>) => void;
}) {
  const { icon, label, isOpen, isDisabled = false, onClick } = props;
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      aria-expanded={isOpen}
      aria-disabled={isDisabled || undefined}
      onClick={(event) => !isDisabled && onClick(event)}
      className="inline-flex size-8 items-center justify-center rounded-md text-muted hover:bg-sunken hover:text-ink focus-visible:outline-offset-[-2px] aria-disabled:opacity-60"
    >
      <Icon name={icon} />
    </button>
  );
}

export function ActPanel({ agent, name, acts }: { agent: AgentView; name: string; acts: Acts }) {
  const isEnded = hasEnded(agent);
  const shared = { taskId: agent.id, name, onClose: acts.close };
  if (acts.open === 'steer') return <SteerForm {...shared} isEnded={isEnded} />;
  if (acts.open === 'stop' && !isEnded) return <StopQuestion {...shared} onBusy={acts.setStopping} />;
  return null;
}
