import type { Task } from '@vitto/contracts';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { useLanguage } from '../../../i18n/strings-context.tsx';
import { formatCost, formatCount, formatDuration } from '../../chat/model/format.ts';
import type { BudgetKind } from '../../agents/model/budget-left.ts';
import { taskStrings } from '../strings.ts';

/** What was spent of each budget, said and drawn. */
export function SpendingMeters({ task }: { task: Task }) {
  const strings = useFeatureStrings(taskStrings);
  const language = useLanguage();
  const { spending, budget } = task;
  const cost = (value: number | null) => formatCost(value, strings.unknown, language);
  const lines: [BudgetKind, number | null, number | null, (value: number) => string][] = [
    ['iterations', spending.iterations, budget.maxIterations, String],
    ['tokens', spending.tokens, budget.maxTokens, (count) => formatCount(count, language)],
    ['cost', spending.costUsd, budget.maxCostUsd, cost],
    ['duration', spending.durationMs, budget.maxDurationMs, formatDuration],
  ];
  return (
    <ul aria-label={strings.spending} className="grid grid-cols-2 gap-x-6 gap-y-2 lg:grid-cols-4">
      {lines.map(([kind, spent, limit, format]) => (
        <li key={kind} className="grid gap-1">
          <p className="flex flex-wrap justify-between gap-x-2 text-xs">
            <span className="text-muted">{strings.budgets[kind]}</span>
            <span className="tabular">
              {limit === null
                ? strings.noLimit(spent === null ? strings.unknown : format(spent))
                : strings.of(spent === null ? strings.unknown : format(spent), format(limit))}
            </span>
          </p>
          <span className="h-1 overflow-hidden rounded-full bg-line" aria-hidden="true">
            {limit !== null && spent !== null && (
              <span
                className={`block h-full ${spent / limit > 0.9 ? 'bg-red' : 'bg-accent-fill'}`}
                style={{ width: `${Math.min(100, (spent / limit) * 100)}%` }}
              />
            )}
          </span>
        </li>
      ))}
    </ul>
  );
}
