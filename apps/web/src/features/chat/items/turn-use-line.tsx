import { Details } from '../../../components/details.tsx';
import { useLanguage, useStrings, type Language } from '../../../i18n/strings-context.tsx';
import type { Strings } from '../../../i18n/strings.en.ts';
import { formatCost, formatCount, formatDuration } from '../model/format.ts';
import type { TurnUse } from '../model/view.ts';

/** What a turn cost, in a line that opens to where the tokens went. */
export function TurnUseLine({ used, model }: { used: TurnUse; model: string | null }) {
  const strings = useStrings();
  const language = useLanguage();
  const { usage, costUsd, durationMs } = used;
  const line = [
    strings.end.tokens(formatCount(usage.inputTokens + usage.outputTokens, language)),
    formatCost(costUsd, strings.end.costUnknown, language),
    formatDuration(durationMs),
  ];
  return (
    <div className="-mt-1.5">
      <Details
        name="used"
        summary={
          <span className="tabular text-xs">
            <span className="sr-only">{strings.answer.used}: </span>
            {line.join(' · ')}
          </span>
        }
      >
        <dl className="tabular grid w-fit grid-cols-[auto_auto] gap-x-4 text-xs text-muted">
          {listUse(used, model, strings, language).map(([name, value]) => (
            <div key={name} className="contents">
              <dt>{name}</dt>
              <dd className="text-end [overflow-wrap:anywhere]">{value}</dd>
            </div>
          ))}
        </dl>
      </Details>
    </div>
  );
}

function listUse(
  { usage, costUsd, durationMs }: TurnUse,
  model: string | null,
  strings: Strings,
  language: Language,
): [string, string][] {
  const words = strings.answer;
  const tokens = (count: number) => strings.end.tokens(formatCount(count, language));
  const list: [string, string | null][] = [
    [words.input, tokens(usage.inputTokens)],
    [words.cached, usage.cachedInputTokens > 0 ? tokens(usage.cachedInputTokens) : null],
    [words.output, tokens(usage.outputTokens)],
    [words.thought, usage.reasoningTokens > 0 ? tokens(usage.reasoningTokens) : null],
    [words.cost, formatCost(costUsd, strings.end.costUnknown, language)],
    [words.time, formatDuration(durationMs)],
    [words.model, model?.toWellFormed() ?? null],
  ];
  return list.filter((entry): entry is [string, string] => entry[1] !== null);
}
