import { useRef, useState } from 'react';
import { mayHaveArrived, toApiError, type ApiError } from '../../api/api-error.ts';
import { useVitto } from '../../api/vitto-context.tsx';
import { ConfirmInPlace } from '../../components/confirm-in-place.tsx';
import { useFeatureStrings } from '../../i18n/define-strings.ts';
import { agentsStrings } from './strings.ts';

/** Stops a task and the agents below it, after asking where the button stands. */
export function StopTask({ taskId, title }: { taskId: string; title: string }) {
  const strings = useFeatureStrings(agentsStrings);
  const { api } = useVitto();
  const key = useRef(crypto.randomUUID());
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const stop = () => {
    setBusy(true);
    setError(null);
    void api.cancelTask(taskId, key.current).catch((failure: unknown) => {
      const problem = toApiError(failure);
      if (!mayHaveArrived(problem)) key.current = crypto.randomUUID();
      setError(problem);
      setBusy(false);
    });
  };
  return (
    <div className="flex flex-wrap items-center justify-end gap-2">
      {error !== null && (
        <p role="alert" className="text-red" title={error.message}>
          {strings.stopFailed}
        </p>
      )}
      <ConfirmInPlace
        label={strings.stop}
        name={strings.stopThis(title)}
        question={<span className="max-sm:sr-only">{strings.stopQuestion}</span>}
        isBusy={isBusy}
        onConfirm={stop}
      />
    </div>
  );
}
