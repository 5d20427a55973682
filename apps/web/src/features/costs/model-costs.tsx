import type { Costs } from '@vitto/contracts';
import { DataTable, type Column } from '../../components/data-table.tsx';
import { Section } from '../../components/section.tsx';
import { useFeatureStrings } from '../../i18n/define-strings.ts';
import { useLanguage } from '../../i18n/strings-context.tsx';
import { amountColumns } from './amount-columns.tsx';
import { costsStrings } from './strings.ts';

type ModelRow = Costs['models'][number];

export function ModelCosts({ costs }: { costs: Costs }) {
  const strings = useFeatureStrings(costsStrings);
  const language = useLanguage();
  const { costUsd } = costs.total;
  const columns: Column<ModelRow>[] = [
    {
      key: 'model',
      label: strings.model,
      isName: true,
      cell: (row) => <span className="[overflow-wrap:anywhere]">{row.model}</span>,
    },
    ...amountColumns<ModelRow>(strings, language),
    {
      key: 'share',
      label: strings.share,
      isNumber: true,
      cell: (row) => (costUsd > 0 ? `${Math.round((row.costUsd / costUsd) * 100)} %` : ''),
    },
  ];
  return (
    <Section title={strings.byModel}>
      <DataTable label={strings.byModel} columns={columns} rows={costs.models} rowKey={(row) => row.model} />
    </Section>
  );
}
