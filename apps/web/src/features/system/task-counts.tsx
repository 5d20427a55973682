import { TASK_STATES } from '@vitto/contracts';
import { Facts, Section } from '../../components/section.tsx';
import { useFeatureStrings } from '../../i18n/define-strings.ts';
import { systemStrings } from './strings.ts';

/** The person's own tasks by state. */
export function TaskCounts({ tasks }: { tasks: Readonly<Record<string, number>> }) {
  const strings = useFeatureStrings(systemStrings);
  const facts = TASK_STATES.filter((state) => (tasks[state] ?? 0) > 0).map((state) => ({
    label: strings.taskStates[state] ?? state,
    value: tasks[state],
  }));
  return (
    <Section title={strings.tasks}>
      {facts.length === 0 ? <p className="text-muted">{strings.noTasks}</p> : <Facts facts={facts} />}
    </Section>
  );
}
