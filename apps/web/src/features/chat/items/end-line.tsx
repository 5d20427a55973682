import type { Spending } from '@vitto/contracts';
import { ArtifactLinks } from '../../../components/artifact-links.tsx';
import { FailureNote } from '../../../components/failure-note.tsx';
import { Markdown } from '../../../components/markdown.tsx';
import { Moment } from '../../../components/moment.tsx';
import { useLanguage, useStrings } from '../../../i18n/strings-context.tsx';
import type { Strings } from '../../../i18n/strings.en.ts';
import { ApiError } from '../../../api/api-error.ts';
import { formatCost, formatCount, formatDuration } from '../model/format.ts';
import type { EndItem } from '../model/view.ts';
import { ScriptedLabel } from '../scripted-label.tsx';

/** How a task ended, what it made, and what it cost. */
export function EndLine({ item }: { item: EndItem }) {
  const strings = useStrings();
  return (
    <div className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-3">
      {item.result !== null && (
        <div className="prose">
          <Markdown text={item.result} />
        </div>
      )}
      {item.error !== null && (
        <FailureNote
          isHistory
          title={strings.end.failed}
          error={new ApiError(500, item.error.code, item.error.message, item.error.hint)}
        />
      )}
      {item.artifacts.length > 0 && <ArtifactLinks artifacts={item.artifacts} />}
      <p className="tabular flex flex-wrap items-center gap-x-2 gap-y-1 text-xs text-muted">
        <span className={item.outcome === 'completed' && item.success ? 'text-green' : 'font-medium'}>
          {describeOutcome(item, strings)}
        </span>
        {item.reason !== null && <span dir="auto">{item.reason.toWellFormed()}</span>}
        {item.spending !== null && <Cost spending={item.spending} />}
        <span aria-hidden="true">·</span>
        <Moment at={item.at} />
        {item.isScripted && <ScriptedLabel />}
      </p>
    </div>
  );
}

function describeOutcome(item: EndItem, strings: Strings): string {
  if (item.outcome === 'completed') return item.success ? strings.end.completed : strings.end.incomplete;
  if (item.outcome === 'failed') return strings.end.failed;
  return item.by === null ? strings.end.cancelled : strings.end.cancelledBy(strings.who[item.by] ?? item.by);
}

function Cost({ spending }: { spending: Spending }) {
  const strings = useStrings();
  const language = useLanguage();
  const parts = [
    spending.iterations > 0 ? strings.end.steps(spending.iterations) : null,
    strings.end.tokens(formatCount(spending.tokens, language)),
    formatCost(spending.costUsd, strings.end.costUnknown, language),
    spending.durationMs > 0 ? strings.end.atWork(formatDuration(spending.durationMs)) : null,
  ].filter((part) => part !== null);
  return parts.map((part) => (
    <span key={part} className="flex gap-2">
      <span aria-hidden="true">·</span>
      {part}
    </span>
  ));
}
