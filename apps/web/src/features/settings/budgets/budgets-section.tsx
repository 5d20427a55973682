import { useQuery } from '@tanstack/react-query';
import { settingsQuery } from '../../../api/queries.ts';
import { useVitto } from '../../../api/vitto-context.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { useLanguage } from '../../../i18n/strings-context.tsx';
import { formatCost } from '../../chat/model/format.ts';
import { Loaded } from '../parts.tsx';
import { limitsQuery, todayQuery } from '../settings-api.ts';
import { BudgetForm } from './budget-form.tsx';
import { budgetsStrings } from './strings.ts';

export function BudgetsSection() {
  const words = useFeatureStrings(budgetsStrings);
  const { api, client } = useVitto();
  const settings = useQuery(settingsQuery(api));
  const limits = useQuery(limitsQuery(client));
  return (
    <>
      <p className="max-w-prose text-muted">{words.text}</p>
      <Today />
      <Loaded query={limits}>
        {(most) => (
          <Loaded query={settings}>{(saved) => <BudgetForm settings={saved} limits={most} />}</Loaded>
        )}
      </Loaded>
    </>
  );
}

/** What today has cost, and how much of the cap that is. */
function Today() {
  const words = useFeatureStrings(budgetsStrings);
  const { client } = useVitto();
  const language = useLanguage();
  const { data } = useQuery(todayQuery(client));
  if (data === undefined) return null;
  const limit = data.limitUsd;
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-1.5 rounded-lg border border-line bg-surface p-3">
      <p className="tabular flex flex-wrap gap-x-2">
        <strong className="font-semibold">{words.today}</strong>
        <span>
          {words.spent(formatCost(data.costUsd, '', language))}{' '}
          {limit === null ? '' : words.ofLimit(formatCost(limit, '', language))}
        </span>
        <span className="text-muted">
          {limit === null && words.noLimit}
          {data.reservedUsd > 0 && words.reserved(formatCost(data.reservedUsd, '', language))}
        </span>
      </p>
      {limit !== null && (
        <progress
          aria-label={words.today}
          max={limit}
          value={Math.min(limit, data.costUsd)}
          className="h-1.5 w-full accent-accent-fill"
        />
      )}
    </div>
  );
}
