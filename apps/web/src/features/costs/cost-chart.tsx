import type { Costs } from '@vitto/contracts';
import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Section } from '../../components/section.tsx';
import { MOST_SERIES, seriesColor, StackedBars } from '../../components/stacked-bars.tsx';
import { useUrlWord } from '../../components/use-url-word.ts';
import { WordSwitch } from '../../components/word-switch.tsx';
import { useFeatureStrings } from '../../i18n/define-strings.ts';
import { useLanguage } from '../../i18n/strings-context.tsx';
import { formatCost, formatCount } from '../chat/model/format.ts';
import { measureOf, toSeries, type Measure } from './cost-series.ts';
import { DayTable } from './day-table.tsx';
import { formatDay } from './format-day.ts';
import { costsStrings } from './strings.ts';

/** Cost or tokens by day, stacked by model; the same figures as a table a key press away. */
export function CostChart({ costs }: { costs: Costs }) {
  const strings = useFeatureStrings(costsStrings);
  // Where nothing has a price, tokens say more.
  const hasPrices = costs.total.costUsd > 0;
  const [measure, setMeasure] = useUrlWord('measure', hasPrices ? ['cost', 'tokens'] : ['tokens', 'cost']);
  const [isTable, setTable] = useState(false);
  return (
    <Section
      title={strings.byDay}
      actions={
        <>
          <WordSwitch
            label={strings.measure}
            words={['cost', 'tokens'] as const}
            chosen={measure}
            nameOf={(word) => strings.measures[word]}
            onChoose={setMeasure}
          />
          <Button onClick={() => setTable(!isTable)}>{isTable ? strings.asChart : strings.asTable}</Button>
        </>
      }
    >
      {isTable ? <DayTable costs={costs} /> : <Picture costs={costs} measure={measure} />}
    </Section>
  );
}

function Picture({ costs, measure }: { costs: Costs; measure: Measure }) {
  const strings = useFeatureStrings(costsStrings);
  const language = useLanguage();
  const formatValue = (value: number) =>
    measure === 'cost' ? formatCost(value, strings.unknown, language) : formatCount(value, language);
  const { days, series } = toSeries(costs, measure, { most: MOST_SERIES, others: strings.others });
  const colored = series.map((one, index) => ({ ...one, color: seriesColor(index) }));
  return (
    <figure className="grid grid-cols-[minmax(0,1fr)] gap-2 rounded-lg border border-line bg-surface p-3">
      <StackedBars
        label={strings.chartOf(
          strings.measures[measure],
          formatDay(costs.from, language),
          formatDay(costs.to, language),
          formatValue(measureOf(costs.total, measure)),
        )}
        data={{ labels: days.map((day) => formatDay(day, language, 'short')), series: colored }}
        formatValue={formatValue}
        axes={{
          x: strings.dayAxis(costs.timeZone),
          y: measure === 'cost' ? strings.costAxis : strings.tokensAxis,
        }}
        idle={strings.idle}
      />
      <figcaption>
        <ul className="flex flex-wrap gap-x-4 gap-y-1">
          {colored.map((one) => (
            <li key={one.name} className="inline-flex items-center gap-1.5 [overflow-wrap:anywhere]">
              <span className="size-2.5 shrink-0 rounded-xs" style={{ background: one.color }} />
              {one.name}
            </li>
          ))}
        </ul>
      </figcaption>
    </figure>
  );
}
