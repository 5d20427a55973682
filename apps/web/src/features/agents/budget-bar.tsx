import type { Task } from '@vitto/contracts';
import { useFeatureStrings } from '../../i18n/define-strings.ts';
import { useLanguage } from '../../i18n/strings-context.tsx';
import { listBudgets } from './model/budget-left.ts';
import { agentsStrings } from './strings.ts';

/** How much is left of the limit that a task is nearest to. */
export function BudgetBar({ task }: { task: Task }) {
  const strings = useFeatureStrings(agentsStrings);
  const language = useLanguage();
  const [tightest] = listBudgets(task.budget, task.spending);
  if (tightest === undefined) return <span className="text-muted">{strings.noLimit}</span>;
  const share = new Intl.NumberFormat(language, { style: 'percent' }).format(tightest.share);
  const what = strings.budget[tightest.kind];
  const look = tightest.share < 0.1 ? 'bg-red' : tightest.share < 0.25 ? 'bg-amber-line' : 'bg-accent-fill';
  return (
    <span className="flex items-center gap-2" title={strings.left(share, what)}>
      <span className="h-1.5 min-w-8 flex-1 overflow-hidden rounded-full bg-line" aria-hidden="true">
        <span
          className={`block h-full rounded-full ${look}`}
          style={{ width: `${Math.round(tightest.share * 100)}%` }}
        />
      </span>
      <span className="tabular w-9 text-end text-muted">{share}</span>
      <span className="sr-only">{strings.left(share, what)}</span>
    </span>
  );
}
