import { useEffect, useRef } from 'react';
import { useVitto } from '../../../api/vitto-context.tsx';
import { Button } from '../../../components/button.tsx';
import { FailureNote } from '../../../components/failure-note.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { useStrings } from '../../../i18n/strings-context.tsx';
import { groupStrings } from './strings.ts';
import { useAgentRequest } from './use-agent-request.ts';

/** Asks before it stops one sub-Vitto; what was asked stays until the server has taken it. */
export function StopQuestion(props: {
  taskId: string;
  name: string;
  /** True from the request on; the row's end says when it is done. */
  onBusy: (isStopping: boolean) => void;
  onClose: () => void;
}) {
  const { taskId, name, onBusy, onClose } = props;
  const strings = useFeatureStrings(groupStrings);
  const { cancel } = useStrings().app;
  const { api } = useVitto();
  const first = useRef<HTMLButtonElement>(null);
  const { request, isBusy, error } = useAgentRequest((key) => api.cancelTask(taskId, key));
  useEffect(() => first.current?.focus(), []);
  const stop = async () => {
    onBusy(true);
    if (await request()) onClose();
    else onBusy(false);
  };
  return (
    <div
      role="group"
      aria-label={strings.stopThis(name)}
      className="appear mt-2 grid gap-2"
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.stopPropagation();
        onClose();
      }}
    >
      {error !== null && <FailureNote title={strings.stopFailed} error={error} />}
      <div className="flex flex-wrap items-center gap-2">
        <p className="text-sm">{strings.stopQuestion}</p>
        <Button ref={first} onClick={onClose}>
          {cancel}
        </Button>
        <Button look="danger" aria-disabled={isBusy} onClick={() => void stop()}>
          {strings.stop}
        </Button>
      </div>
    </div>
  );
}
