import type { TaskState } from '@vitto/contracts';
import { useFeatureStrings } from '../../i18n/define-strings.ts';
import { agentsStrings } from './strings.ts';

const LOOKS: Record<TaskState, { dot: string; word: string }> = {
  queued: { dot: 'bg-line-strong', word: 'text-muted' },
  running: { dot: 'live-dot', word: 'text-accent' },
  waiting_approval: { dot: 'bg-amber', word: 'text-amber' },
  waiting_input: { dot: 'bg-amber', word: 'text-amber' },
  waiting_children: { dot: 'bg-line-strong', word: 'text-muted' },
  completed: { dot: 'bg-green', word: 'text-green' },
  failed: { dot: 'bg-red', word: 'text-red' },
  cancelled: { dot: 'bg-line-strong', word: 'text-muted' },
};

/** The state of a task: a colour, and always the word. */
export function StateMark({ state }: { state: TaskState }) {
  const strings = useFeatureStrings(agentsStrings);
  const { dot, word } = LOOKS[state];
  return (
    <span className={`inline-flex min-w-0 items-center gap-2 ${word}`} data-state={state}>
      <span className={`size-[7px] shrink-0 rounded-full ${dot}`} aria-hidden="true" />
      <span className="truncate">{strings.state[state]}</span>
    </span>
  );
}
