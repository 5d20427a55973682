import type { Costs, SubVittoRole } from '@vitto/contracts';
import { Link } from '@tanstack/react-router';
import { DataTable, type Column } from '../../components/data-table.tsx';
import { Moment } from '../../components/moment.tsx';
import { Section } from '../../components/section.tsx';
import { useFeatureStrings } from '../../i18n/define-strings.ts';
import { useLanguage } from '../../i18n/strings-context.tsx';
import { formatCost } from '../chat/model/format.ts';
import { agentsStrings } from '../agents/strings.ts';
import { costsStrings } from './strings.ts';

type TaskRow = Costs['tasks'][number];

export function DearestTasks({ tasks }: { tasks: Costs['tasks'] }) {
  const strings = useFeatureStrings(costsStrings);
  const language = useLanguage();
  const columns: Column<TaskRow>[] = [
    {
      key: 'task',
      label: strings.task,
      isName: true,
      cell: (row) => (
        <>
          <Link
            to="/vitto/t/$taskId"
            params={{ taskId: row.taskId }}
            className="block min-w-40 text-accent underline underline-offset-2 [overflow-wrap:anywhere]"
            dir="auto"
          >
            {row.title.toWellFormed() || row.taskId.slice(0, 8)}
          </Link>
          {row.parentTaskId !== null && <AgentMark row={row} />}
        </>
      ),
    },
    {
      key: 'begun',
      label: strings.begun,
      cell: (row) => (
        <span className="whitespace-nowrap">
          <Moment at={row.createdAt} />
        </span>
      ),
    },
    {
      key: 'tokens',
      label: strings.tokens,
      isNumber: true,
      cell: (row) => row.tokens.toLocaleString(language),
    },
    {
      key: 'cost',
      label: strings.cost,
      isNumber: true,
      cell: (row) => formatCost(row.costUsd, strings.unknown, language),
    },
  ];
  return (
    <Section title={strings.dearest}>
      <p className="text-muted">{tasks.length === 0 ? strings.noTasks : strings.dearestHint}</p>
      {tasks.length > 0 && (
        <DataTable label={strings.dearest} columns={columns} rows={tasks} rowKey={(row) => row.taskId} />
      )}
    </Section>
  );
}

/** Of a sub-Vitto: what it was for, and the way to the task that all began with. */
function AgentMark({ row }: { row: TaskRow }) {
  const strings = useFeatureStrings(costsStrings);
  const { roles } = useFeatureStrings(agentsStrings);
  const role = row.role === null ? null : (roles[row.role as SubVittoRole] ?? row.role.toWellFormed());
  return (
    <span className="text-xs text-muted">
      {strings.agent(role)}{' '}
      <Link
        to="/vitto/t/$taskId"
        params={{ taskId: row.rootTaskId }}
        className="underline underline-offset-2 hover:text-ink"
      >
        {strings.itsRoot}
      </Link>
    </span>
  );
}
