import { useFeatureStrings } from '../../i18n/define-strings.ts';
import { TestOutcome } from '../settings/models/test-outcome.tsx';
import { setupStrings } from './strings.ts';
import type { useTryModel } from './use-try-model.ts';

/** How a try goes, and why it did not work. */
export function TryOutcome({ attempt }: { attempt: ReturnType<typeof useTryModel> }) {
  const words = useFeatureStrings(setupStrings);
  return (
    <>
      <p role="status" className="flex items-center gap-2 text-muted empty:hidden">
        {attempt.step !== null && (
          <>
            <span className="live-dot" />
            {words[attempt.step]}
          </>
        )}
      </p>
      <TestOutcome result={attempt.failed} error={attempt.error} />
      {attempt.failed !== null && <p className="text-muted">{words.takenBack}</p>}
    </>
  );
}
