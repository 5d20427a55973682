import type { Task } from '@vitto/contracts';
import { useFeatureStrings } from '../../i18n/define-strings.ts';
import { agentsStrings } from './strings.ts';

/** How a task stands in a word: its state, or that it ended by itself without reaching its goal. */
export type Standing = Task['state'] | 'unsuccessful';

export function standingOf({ state, success }: Pick<Task, 'state' | 'success'>): Standing {
  return state === 'completed' && success === false ? 'unsuccessful' : state;
}

const LOOKS: Record<Standing, { dot: string; word: string }> = {
  queued: { dot: 'bg-line-strong', word: 'text-muted' },
  running: { dot: 'live-dot', word: 'text-accent' },
  waiting_approval: { dot: 'bg-amber', word: 'text-amber' },
  waiting_input: { dot: 'bg-amber', word: 'text-amber' },
  waiting_children: { dot: 'bg-line-strong', word: 'text-muted' },
  completed: { dot: 'bg-green', word: 'text-green' },
  unsuccessful: { dot: 'bg-amber', word: 'text-amber' },
  failed: { dot: 'bg-red', word: 'text-red' },
  cancelled: { dot: 'bg-line-strong', word: 'text-muted' },
};

/** How a task stands: a colour, and always the word. */
export function StateMark({ task }: { task: Pick<Task, 'state' | 'success'> }) {
  const strings = useFeatureStrings(agentsStrings);
  const standing = standingOf(task);
  const { dot, word } = LOOKS[standing];
  return (
    <span className={`inline-flex min-w-0 items-center gap-2 ${word}`} data-state={standing}>
      <span className={`size-[7px] shrink-0 rounded-full ${dot}`} aria-hidden="true" />
      <span className="truncate">{strings.state[standing]}</span>
    </span>
  );
}
