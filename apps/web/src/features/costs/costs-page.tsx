import { costs, type Costs } from '@vitto/contracts';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { toApiError } from '../../api/api-error.ts';
import { useVitto } from '../../api/vitto-context.tsx';
import { Button } from '../../components/button.tsx';
import { FailureNote } from '../../components/failure-note.tsx';
import { Page } from '../../components/page.tsx';
import { useUrlWord } from '../../components/use-url-word.ts';
import { WordSwitch } from '../../components/word-switch.tsx';
import { useFeatureStrings } from '../../i18n/define-strings.ts';
import { useStrings } from '../../i18n/strings-context.tsx';
import { BudgetParts } from './budget-parts.tsx';
import { CostChart } from './cost-chart.tsx';
import { DearestTasks } from './dearest-tasks.tsx';
import { ModelCosts } from './model-costs.tsx';
import { NothingUsed } from './nothing-used.tsx';
import { costsStrings } from './strings.ts';
import { SubVittoCosts } from './sub-vitto-costs.tsx';
import { Totals } from './totals.tsx';

const RANGES = ['30', '7', '90'] as const;

/** What was spent: by day and model, by task, against the cap, and where the month is going. */
export function CostsPage() {
  const strings = useFeatureStrings(costsStrings);
  const shared = useStrings();
  const { client } = useVitto();
  const [days, setDays] = useUrlWord('days', RANGES);
  const query = useQuery({
    queryKey: ['costs', days],
    queryFn: ({ signal }) => client.send({ path: `/costs?days=${days}`, schema: costs, signal }),
    placeholderData: keepPreviousData,
  });
  return (
    <Page
      title={strings.title}
      actions={
        <WordSwitch
          label={strings.range}
          words={['7', '30', '90'] as const}
          chosen={days}
          nameOf={strings.days}
          onChoose={setDays}
        />
      }
    >
      <div className="grid grid-cols-[minmax(0,1fr)] gap-8" aria-busy={query.isFetching}>
        {query.isError && (
          <FailureNote title={strings.failed} error={toApiError(query.error)}>
            <Button onClick={() => void query.refetch()}>{shared.app.retry}</Button>
          </FailureNote>
        )}
        {query.isPending && <Skeleton />}
        {query.data !== undefined && <Shown data={query.data} />}
      </div>
    </Page>
  );
}

function Shown({ data }: { data: Costs }) {
  return (
    <>
      <Totals total={data.total} />
      <BudgetParts costs={data} />
      {data.total.turns === 0 ? (
        <NothingUsed />
      ) : (
        <>
          <CostChart costs={data} />
          <ModelCosts costs={data} />
          <SubVittoCosts rows={data.subVittos} />
          <DearestTasks tasks={data.tasks} />
        </>
      )}
    </>
  );
}

function Skeleton() {
  const strings = useStrings();
  return (
    <div className="appear-late grid gap-8" role="status">
      <span className="sr-only">{strings.app.loading}</span>
      <span className="grid grid-cols-2 gap-2 md:grid-cols-4">
        {Array.from({ length: 4 }, (_, i) => (
          <span key={i} className="h-20 rounded-lg bg-sunken" />
        ))}
      </span>
      <span className="grid gap-8 md:grid-cols-2">
        <span className="h-24 rounded-lg bg-sunken" />
        <span className="h-24 rounded-lg bg-sunken" />
      </span>
      <span className="h-80 rounded-lg bg-sunken" />
    </div>
  );
}
