import type { Costs, SubVittoRole } from '@vitto/contracts';
import { DataTable, type Column } from '../../components/data-table.tsx';
import { Section } from '../../components/section.tsx';
import { useFeatureStrings } from '../../i18n/define-strings.ts';
import { useLanguage } from '../../i18n/strings-context.tsx';
import { agentsStrings } from '../agents/strings.ts';
import { formatCost } from '../chat/model/format.ts';
import { costsStrings } from './strings.ts';

type RoleRow = Costs['subVittos'][number];

/** What sub-Vittos cost, by what they were for, and how many of them succeeded. */
export function SubVittoCosts({ rows }: { rows: Costs['subVittos'] }) {
  const strings = useFeatureStrings(costsStrings);
  const { roles } = useFeatureStrings(agentsStrings);
  const language = useLanguage();
  const count = (key: 'runs' | 'succeeded' | 'tokens', label: string): Column<RoleRow> => ({
    key,
    label,
    isNumber: true,
    cell: (row) => row[key].toLocaleString(language),
  });
  const cost = (usd: number | null) => formatCost(usd, strings.unknown, language);
  const columns: Column<RoleRow>[] = [
    {
      key: 'role',
      label: strings.role,
      isName: true,
      cell: ({ role }) =>
        role === null ? strings.noRole : (roles[role as SubVittoRole] ?? role.toWellFormed()),
    },
    count('runs', strings.runs),
    count('succeeded', strings.succeeded),
    {
      key: 'failed',
      label: strings.unsuccessful,
      isNumber: true,
      cell: (row) => (
        <span className={row.failed > 0 ? 'text-red' : ''}>{row.failed.toLocaleString(language)}</span>
      ),
    },
    count('tokens', strings.tokens),
    { key: 'cost', label: strings.cost, isNumber: true, cell: (row) => cost(row.costUsd) },
    {
      key: 'perRun',
      label: strings.perRun,
      isNumber: true,
      cell: (row) => cost(row.costUsd === null ? null : row.costUsd / Math.max(1, row.runs)),
    },
  ];
  return (
    <Section title={strings.agentsByRole}>
      <p className="text-muted">{rows.length === 0 ? strings.noAgents : strings.agentsHint}</p>
      {rows.length > 0 && (
        <DataTable
          label={strings.agentsByRole}
          columns={columns}
          rows={rows}
          rowKey={(row) => row.role ?? ''}
        />
      )}
    </Section>
  );
}
