import type { Outcome } from '@vitto/contracts';
import { Button } from '../../../components/button.tsx';
import { FailureNote } from '../../../components/failure-note.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { useVerdict } from '../use-verdict.ts';
import { verdictStrings } from '../verdict-strings.ts';

/** Of a task that has ended: whether it counts as right and whose word that is, and the person's own word on it. */
export function TaskVerdict({ taskId }: { taskId: string }) {
  const strings = useFeatureStrings(verdictStrings);
  const { outcome, give, isBusy, error } = useVerdict(taskId);
  const own = outcome?.verdictSource === 'user' ? outcome.success : null;
  return (
    <div className="mt-3 grid gap-2">
      <div role="group" aria-label={strings.group} className="flex flex-wrap items-center gap-x-2 gap-y-1">
        {[true, false].map((success) => (
          <Button
            key={String(success)}
            look={own === success ? 'plain' : 'quiet'}
            aria-pressed={own === success}
            disabled={isBusy}
            onClick={() => give(success)}
          >
            {success ? strings.right : strings.wrong}
          </Button>
        ))}
        <p className="text-muted" aria-live="polite">
          {outcome !== null && <Standing outcome={outcome} />}
        </p>
      </div>
      {error !== null && <FailureNote title={strings.failed} error={error} />}
    </div>
  );
}

function Standing({ outcome }: { outcome: Outcome }) {
  const strings = useFeatureStrings(verdictStrings);
  const wasStopped = outcome.verdictSource === 'self' && outcome.end === 'cancelled';
  const counts = outcome.success ? strings.counts.right : strings.counts.wrong;
  return `${counts} · ${wasStopped ? strings.stopped : strings.source[outcome.verdictSource]}`;
}
