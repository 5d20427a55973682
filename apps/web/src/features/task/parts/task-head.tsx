import type { SubVittoRole, Task } from '@vitto/contracts';
import { Link } from '@tanstack/react-router';
import { Elapsed } from '../../../components/elapsed.tsx';
import { FailureNote } from '../../../components/failure-note.tsx';
import { Moment } from '../../../components/moment.tsx';
import { ApiError } from '../../../api/api-error.ts';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { formatDuration } from '../../chat/model/format.ts';
import { StateMark } from '../../agents/state-mark.tsx';
import { agentsStrings } from '../../agents/strings.ts';
import { taskStrings } from '../strings.ts';
import { SpendingMeters } from './spending-meters.tsx';
import { Fact } from './fact.tsx';

/** What a task is, how it stands, and what it has used of what it may. */
export function TaskHead({ task, parent }: { task: Task; parent: Task | undefined }) {
  const strings = useFeatureStrings(taskStrings);
  const agents = useFeatureStrings(agentsStrings);
  const { facts } = strings;
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-3">
      <div className="flex flex-wrap items-center gap-x-5 gap-y-1">
        <StateMark task={task} />
        <p className="text-muted">
          {[
            strings.kinds[task.kind],
            task.role === null ? null : (agents.roles[task.role as SubVittoRole] ?? task.role.toWellFormed()),
            task.tier === null ? null : strings.tiers[task.tier],
            task.round === null ? null : agents.round(task.round),
            task.tainted ? strings.tainted : null,
          ]
            .filter((part) => part != null)
            .join(' · ')}
        </p>
        <dl className="flex flex-wrap gap-x-5 gap-y-1">
          <Fact name={facts.asked}>
            <Moment at={task.createdAt} />
          </Fact>
          <Times task={task} />
          {task.parentId !== null && (
            <Fact name={strings.parent}>
              <Link
                to="/vitto/t/$taskId"
                params={{ taskId: task.parentId }}
                className="text-accent underline-offset-4 hover:underline"
              >
                {parent === undefined || parent.title === ''
                  ? strings.parentTask
                  : parent.title.toWellFormed()}
              </Link>
            </Fact>
          )}
        </dl>
      </div>
      {task.error !== null && (
        <FailureNote
          isHistory
          title={facts.error}
          error={new ApiError(500, task.error.code, task.error.message, task.error.hint)}
        />
      )}
      <SpendingMeters task={task} />
    </div>
  );
}

function Times({ task }: { task: Task }) {
  const { facts } = useFeatureStrings(taskStrings);
  const from = task.startedAt ?? task.createdAt;
  if (task.endedAt === null) {
    return task.startedAt === null ? null : (
      <Fact name={facts.running}>
        <Elapsed since={from} />
      </Fact>
    );
  }
  return (
    <>
      <Fact name={facts.ended}>
        <Moment at={task.endedAt} />
      </Fact>
      <Fact name={facts.took}>{formatDuration(Date.parse(task.endedAt) - Date.parse(from))}</Fact>
    </>
  );
}
