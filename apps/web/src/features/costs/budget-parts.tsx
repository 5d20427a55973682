import type { Costs } from '@vitto/contracts';
import { Link } from '@tanstack/react-router';
import { Section } from '../../components/section.tsx';
import { useFeatureStrings } from '../../i18n/define-strings.ts';
import { useLanguage } from '../../i18n/strings-context.tsx';
import { formatCost } from '../chat/model/format.ts';
import { costsStrings } from './strings.ts';

/** Today against the cap, and the month as it goes on. */
export function BudgetParts({ costs }: { costs: Costs }) {
  const strings = useFeatureStrings(costsStrings);
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-8 md:grid-cols-2">
      <Section
        title={strings.today}
        actions={
          <Link
            to="/vitto/settings/{-$section}"
            params={{ section: 'budgets' }}
            className="text-accent underline underline-offset-2"
          >
            {strings.editBudgets}
          </Link>
        }
      >
        <Today today={costs.today} />
      </Section>
      <Section title={strings.forecast}>
        <Forecast forecast={costs.forecast} />
      </Section>
    </div>
  );
}

function Today({ today }: { today: Costs['today'] }) {
  const strings = useFeatureStrings(costsStrings);
  const language = useLanguage();
  const { costUsd, reservedUsd, limitUsd } = today;
  const spent = formatCost(costUsd, strings.unknown, language);
  const reserved =
    reservedUsd > 0 ? strings.reserved(formatCost(reservedUsd, strings.unknown, language)) : '';
  if (limitUsd === null) {
    return (
      <p className="tabular text-muted">
        {strings.noCap(spent)} {reserved}
      </p>
    );
  }
  const ofCap = strings.ofCap(spent, formatCost(limitUsd, strings.unknown, language));
  const words = reserved === '' ? ofCap : `${ofCap}. ${reserved}`;
  const isReached = costUsd + reservedUsd >= limitUsd;
  return (
    <>
      <div
        role="meter"
        aria-label={strings.today}
        aria-valuemin={0}
        aria-valuemax={limitUsd}
        aria-valuenow={Math.min(costUsd, limitUsd)}
        aria-valuetext={words}
        className="flex h-3 overflow-hidden rounded-full border border-line bg-sunken"
      >
        <span
          className={isReached ? 'bg-amber-line' : 'bg-accent-fill'}
          style={{ width: share(costUsd, limitUsd) }}
        />
        <span className="bg-accent-fill opacity-40" style={{ width: share(reservedUsd, limitUsd) }} />
      </div>
      <p className="tabular">{words}</p>
      {isReached && <p className="text-amber">{strings.capReached}</p>}
    </>
  );
}

function share(part: number, whole: number): string {
  return `${Math.min(100, (part / whole) * 100).toFixed(1)}%`;
}

function Forecast({ forecast }: { forecast: Costs['forecast'] }) {
  const strings = useFeatureStrings(costsStrings);
  const language = useLanguage();
  if (forecast === null) return <p className="text-muted">{strings.noForecast}</p>;
  const money = (usd: number) => formatCost(usd, strings.unknown, language);
  return (
    <>
      <p className="tabular text-lg font-semibold">{strings.forecastIs(money(forecast.monthUsd))}</p>
      <p className="tabular text-muted">
        {strings.forecastWhy(
          money(forecast.spentThisMonthUsd),
          money(forecast.perDayUsd),
          forecast.basedOnDays,
        )}
      </p>
    </>
  );
}
