import type { CostAmount } from '@vitto/contracts';
import { Section } from '../../components/section.tsx';
import { useFeatureStrings } from '../../i18n/define-strings.ts';
import { useLanguage } from '../../i18n/strings-context.tsx';
import { formatCost, formatCount } from '../chat/model/format.ts';
import { costsStrings } from './strings.ts';

export function Totals({ total }: { total: CostAmount }) {
  const strings = useFeatureStrings(costsStrings);
  const language = useLanguage();
  const isUnpriced = total.turns > 0 && total.unpricedTurns === total.turns;
  return (
    <Section title={strings.totals}>
      <dl className="tabular grid grid-cols-2 gap-2 md:grid-cols-4">
        <Figure
          label={strings.cost}
          value={formatCost(isUnpriced ? null : total.costUsd, strings.unknown, language)}
        />
        <Figure label={strings.turns} value={String(total.turns)} />
        <Figure
          label={strings.input}
          value={formatCount(total.inputTokens, language)}
          note={strings.cached(formatCount(total.cachedInputTokens, language))}
        />
        <Figure label={strings.output} value={formatCount(total.outputTokens, language)} />
      </dl>
      {total.unpricedTurns > 0 && <p className="text-amber">{strings.unpriced(total.unpricedTurns)}</p>}
    </Section>
  );
}

function Figure({ label, value, note }: { label: string; value: string; note?: string }) {
  return (
    <div className="grid content-start rounded-lg border border-line bg-surface p-3">
      <dt className="text-muted">{label}</dt>
      <dd className="text-lg font-semibold">
        {value}
        {note !== undefined && <span className="block text-sm font-normal text-muted">{note}</span>}
      </dd>
    </div>
  );
}
