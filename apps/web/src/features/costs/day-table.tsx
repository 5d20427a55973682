import type { Costs } from '@vitto/contracts';
import { DataTable, type Column } from '../../components/data-table.tsx';
import { useFeatureStrings } from '../../i18n/define-strings.ts';
import { useLanguage } from '../../i18n/strings-context.tsx';
import { amountColumns } from './amount-columns.tsx';
import { formatDay } from './format-day.ts';
import { costsStrings } from './strings.ts';

type Day = Costs['days'][number];

/** What the chart draws, newest first. */
export function DayTable({ costs }: { costs: Costs }) {
  const strings = useFeatureStrings(costsStrings);
  const language = useLanguage();
  const columns: Column<Day>[] = [
    {
      key: 'day',
      label: strings.day,
      isName: true,
      cell: (row) => <span className="whitespace-nowrap">{formatDay(row.day, language)}</span>,
    },
    { key: 'model', label: strings.model, cell: (row) => row.model },
    ...amountColumns<Day>(strings, language),
  ];
  return (
    <DataTable
      label={strings.byDay}
      columns={columns}
      rows={costs.days.toReversed()}
      rowKey={(row) => `${row.day} ${row.model}`}
    />
  );
}
