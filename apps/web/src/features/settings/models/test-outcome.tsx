import type { ModelTest } from '@vitto/contracts';
import { useState } from 'react';
import { ApiError } from '../../../api/api-error.ts';
import { FailureNote } from '../../../components/failure-note.tsx';
import { Icon } from '../../../components/icon.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { useLanguage } from '../../../i18n/strings-context.tsx';
import { formatCost, formatCount, formatDuration } from '../../chat/model/format.ts';
import type { Action } from '../use-action.ts';
import { modelsStrings } from './strings.ts';

type Test = Action<[], ModelTest>;

/** A test whose last answer is kept beside how it went. */
export function useLastTest(test: Test): { run: () => Promise<ModelTest | null>; last: ModelTest | null } {
  const [last, setLast] = useState<ModelTest | null>(null);
  const run = async () => {
    setLast(null);
    const result = await test.run();
    setLast(result);
    return result;
  };
  return { run, last };
}

/** What a model said to a short question, what that took and cost; or why it said nothing, and what to do. */
export function TestOutcome({ result, error }: { result: ModelTest | null; error: ApiError | null }) {
  const words = useFeatureStrings(modelsStrings);
  const language = useLanguage();
  if (error !== null) return <FailureNote title={words.testNotMade} error={error} />;
  if (result === null) return null;
  if (!result.isOk) {
    const { code, message, hint } = result.error ?? { code: 'model.no-answer', message: '' };
    return <FailureNote title={words.testFailed} error={new ApiError(200, code, message, hint)} />;
  }
  const tokens = (result.usage?.inputTokens ?? 0) + (result.usage?.outputTokens ?? 0);
  return (
    <div role="status" className="appear grid grid-cols-[minmax(0,1fr)] gap-1">
      <p className="tabular flex flex-wrap items-center gap-x-3 text-muted">
        <span className="inline-flex items-center gap-1 text-green">
          <Icon name="check" />
          {words.answered(formatDuration(result.durationMs))}
        </span>
        {result.usage !== null && <span>{words.tokens(formatCount(tokens, language))}</span>}
        <span>{formatCost(result.costUsd, words.unpriced, language)}</span>
      </p>
      <p className="border-s-2 border-line ps-3 break-words" dir="auto">
        {result.text.toWellFormed()}
      </p>
    </div>
  );
}
