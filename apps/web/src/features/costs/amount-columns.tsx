import type { CostAmount } from '@vitto/contracts';
import type { Column } from '../../components/data-table.tsx';
import type { Language } from '../../i18n/strings-context.tsx';
import { formatCost } from '../chat/model/format.ts';
import type { costsStrings } from './strings.ts';

/** The columns of whatever has an amount: turns, tokens, cost. */
export function amountColumns<Row extends CostAmount>(
  strings: (typeof costsStrings)['en'],
  language: Language,
): Column<Row>[] {
  const whole = (value: number) => value.toLocaleString(language);
  return [
    { key: 'turns', label: strings.turns, isNumber: true, cell: (row) => whole(row.turns) },
    { key: 'input', label: strings.input, isNumber: true, cell: (row) => whole(row.inputTokens) },
    { key: 'output', label: strings.output, isNumber: true, cell: (row) => whole(row.outputTokens) },
    {
      key: 'cost',
      label: strings.cost,
      isNumber: true,
      cell: (row) =>
        formatCost(row.unpricedTurns === row.turns ? null : row.costUsd, strings.unknown, language),
    },
  ];
}
