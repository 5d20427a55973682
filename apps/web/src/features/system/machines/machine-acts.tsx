import type { SandboxInfo } from '@vitto/contracts';
import { useState } from 'react';
import { useSession } from '../../../api/session.ts';
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
  // What is in a machine is its user's alone: who keeps the installation may end it, not delete it.
  const isOwn = useSession().data?.id === machine.userId;
  const act = useMachineAct(machine.id);
  const [busyWith, setBusyWith] = useState<MachineAct>('snapshot');
  const run = (what: MachineAct) => {
    setBusyWith(what);
    void act.run(what);
  };
  const kept = machine.diskBytes + (machine.snapshot?.bytes ?? 0);
  const isUp = machine.state === 'running' || machine.state === 'starting';
  if (!isOwn && !isUp) return null;
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
            {machine.state === 'running' && machine.commands.length > 0 && (
              <ConfirmInPlace
                label={strings.acts.snapshot}
                name={strings.actsOn.snapshot(name)}
                question={strings.snapshotQuestion}
                isBusy={act.isBusy}
                onConfirm={() => run('snapshot')}
              />
            )}
            {machine.state === 'running' && machine.commands.length === 0 && (
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
            {isOwn && (
              <ConfirmInPlace
                label={strings.acts.forget}
                name={strings.actsOn.forget(name)}
                question={strings.forgetQuestion(formatBytes(kept))}
                isBusy={act.isBusy}
                onConfirm={() => run('forget')}
              />
            )}
          </>
        )}
      </div>
      <ActFailure error={act.error} />
    </div>
  );
}
