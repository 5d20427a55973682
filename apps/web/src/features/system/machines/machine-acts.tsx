import type { SandboxInfo } from '@vitto/contracts';
import { useState } from 'react';
import { Button } from '../../../components/button.tsx';
import { ConfirmInPlace } from '../../../components/confirm-in-place.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { formatBytes } from '../../chat/model/format.ts';
import { ActFailure } from './act-failure.tsx';
import { machineStrings } from './strings.ts';
import { useMachineAct, type MachineAct } from './use-machines.ts';

/** One act at a time; what cannot be taken back is asked about first, with what is lost by it. */
export function MachineActs({ machine, name }: { machine: SandboxInfo; name: string }) {
  const strings = useFeatureStrings(machineStrings);
  const act = useMachineAct(machine.id);
  const [busyWith, setBusyWith] = useState<MachineAct>('snapshot');
  const run = (what: MachineAct) => {
    setBusyWith(what);
    void act.run(what);
  };
  const kept = machine.diskBytes + (machine.snapshot?.bytes ?? 0);
  const isUp = machine.state === 'running' || machine.state === 'starting';
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-2">
      <div className="flex min-h-8 flex-wrap items-center gap-2">
        {act.isBusy ? (
          <p role="status" className="flex items-center gap-1.5 text-accent">
            <span className="live-dot" />
            {strings.busy[busyWith]}
          </p>
        ) : (
          <>
            {machine.state === 'running' && (
              <Button aria-label={strings.actsOn.snapshot(name)} onClick={() => run('snapshot')}>
                {strings.acts.snapshot}
              </Button>
            )}
            {isUp && (
              <ConfirmInPlace
                label={strings.acts.destroy}
                name={strings.actsOn.destroy(name)}
                question={strings.destroyQuestion}
                isBusy={act.isBusy}
                onConfirm={() => run('destroy')}
              />
            )}
            <ConfirmInPlace
              label={strings.acts.forget}
              name={strings.actsOn.forget(name)}
              question={strings.forgetQuestion(formatBytes(kept))}
              isBusy={act.isBusy}
              onConfirm={() => run('forget')}
            />
          </>
        )}
      </div>
      <ActFailure error={act.error} />
    </div>
  );
}
