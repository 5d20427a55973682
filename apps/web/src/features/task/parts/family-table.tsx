import type { SubVittoRole } from '@vitto/contracts';
import { Link } from '@tanstack/react-router';
import { DataTable, type Column } from '../../../components/data-table.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { useLanguage, useStrings } from '../../../i18n/strings-context.tsx';
import { ownSpending } from '../../agents/model/own-spending.ts';
import { StateMark } from '../../agents/state-mark.tsx';
import { agentsStrings } from '../../agents/strings.ts';
import { formatCost, formatCount, formatDuration } from '../../chat/model/format.ts';
import { endOf, startOf, type FamilyRow } from '../model/family-rows.ts';
import { taskStrings } from '../strings.ts';

/** What the chart draws, and what each has used itself. */
export function FamilyTable({ rows, now }: { rows: readonly FamilyRow[]; now: number }) {
  const { family } = useFeatureStrings(taskStrings);
  const agents = useFeatureStrings(agentsStrings);
  const shared = useStrings();
  const language = useLanguage();
  const columns: Column<FamilyRow>[] = [
    { key: 'number', label: family.number, isNumber: true, cell: (row) => row.number },
    {
      key: 'task',
      label: agents.columns.task,
      isName: true,
      cell: ({ task, level }) => (
        <Link
          to="/vitto/t/$taskId"
          params={{ taskId: task.id }}
          preload={false}
          className="block text-accent underline underline-offset-2 [overflow-wrap:anywhere]"
          style={{ paddingInlineStart: `${level}rem` }}
          dir="auto"
        >
          {(task.title === '' ? shared.app.untitled : task.title).toWellFormed()}
        </Link>
      ),
    },
    {
      key: 'role',
      label: family.role,
      cell: ({ task }) =>
        task.role === null ? '' : (agents.roles[task.role as SubVittoRole] ?? task.role.toWellFormed()),
    },
    {
      key: 'tier',
      label: family.where,
      cell: ({ task }) => (task.tier === null ? '' : agents.tiers[task.tier]),
    },
    { key: 'round', label: family.round, isNumber: true, cell: ({ task }) => task.round ?? '' },
    { key: 'after', label: family.waitsFor, cell: ({ after }) => after.join(', ') },
    { key: 'state', label: agents.columns.state, cell: ({ task }) => <StateMark task={task} /> },
    {
      key: 'line',
      label: family.waited,
      isNumber: true,
      cell: ({ task }) => formatDuration(startOf(task, now) - Date.parse(task.createdAt)),
    },
    {
      key: 'time',
      label: agents.columns.time,
      isNumber: true,
      cell: ({ task }) =>
        task.startedAt === null ? '' : formatDuration(endOf(task, now) - startOf(task, now)),
    },
    {
      key: 'tokens',
      label: agents.columns.tokens,
      isNumber: true,
      cell: ({ task }) => formatCount(ownSpending(task).tokens, language),
    },
    {
      key: 'cost',
      label: agents.columns.cost,
      isNumber: true,
      cell: ({ task }) => formatCost(ownSpending(task).costUsd, '–', language),
    },
  ];
  return (
    <DataTable
      label={family.title(rows.length)}
      columns={columns}
      rows={rows}
      rowKey={(row) => row.task.id}
    />
  );
}
