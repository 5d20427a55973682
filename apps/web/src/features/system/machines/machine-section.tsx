import type { SandboxInfo } from '@vitto/contracts';
import { useQuery } from '@tanstack/react-query';
import { toApiError } from '../../../api/api-error.ts';
import { useRefreshOnEvents } from '../../../api/use-refresh-on-events.ts';
import { useVitto } from '../../../api/vitto-context.tsx';
import { Button } from '../../../components/button.tsx';
import { FailureNote } from '../../../components/failure-note.tsx';
import { Section } from '../../../components/section.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { useStrings } from '../../../i18n/strings-context.tsx';
import { BuildStrips } from './build-strip.tsx';
import { HostCard } from './host-card.tsx';
import { MachineCard } from './machine-card.tsx';
import { machineStrings } from './strings.ts';
import { MACHINE_EVENTS, MACHINES_KEY, machinesQuery } from './use-machines.ts';

const REFRESH_MS = 3_000;

/** The VM tier: hosts with their images, and machines with what runs in them. */
export function MachineSection() {
  const strings = useFeatureStrings(machineStrings);
  const shared = useStrings();
  const { client, stream } = useVitto();
  const machines = useQuery({ ...machinesQuery(client), refetchInterval: REFRESH_MS });
  useRefreshOnEvents(stream, MACHINE_EVENTS, MACHINES_KEY);
  const error = machines.error ?? (machines.failureCount > 1 ? machines.failureReason : null);
  const { data } = machines;
  const isOfSeveral = new Set(data?.sandboxes.map(({ userId }) => userId)).size > 1;
  return (
    <Section title={strings.title}>
      <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
        {error !== null && (
          <FailureNote title={data === undefined ? strings.failed : strings.stale} error={toApiError(error)}>
            <Button onClick={() => void machines.refetch()}>{shared.app.retry}</Button>
          </FailureNote>
        )}
        {data === undefined && error === null && <Skeleton />}
        {data !== undefined && (
          <>
            <BuildStrips hosts={data.hosts} />
            {data.hosts.length > 0 && (
              <ul aria-label={strings.hosts} className="grid grid-cols-[minmax(0,1fr)] gap-2">
                {data.hosts.map((host) => (
                  <HostCard key={host.id} host={host} givenMib={givenOn(host.id, data.sandboxes)} />
                ))}
              </ul>
            )}
            {data.sandboxes.length === 0 ? (
              <p className="max-w-prose text-muted">{strings.noMachines}</p>
            ) : (
              <ul aria-label={strings.machines} className="grid grid-cols-[minmax(0,1fr)] gap-2">
                {data.sandboxes.map((machine) => (
                  <MachineCard key={machine.id} machine={machine} saysWhose={isOfSeveral} />
                ))}
              </ul>
            )}
          </>
        )}
      </div>
    </Section>
  );
}

/** Memory that VMs on a host may take, in MiB. */
function givenOn(hostId: string, machines: readonly SandboxInfo[]): number {
  return machines
    .filter((one) => one.hostId === hostId && one.state !== 'suspended' && one.state !== 'lost')
    .reduce((sum, { memoryMib }) => sum + memoryMib, 0);
}

function Skeleton() {
  const strings = useStrings();
  return (
    <div className="appear-late grid gap-2" role="status">
      <span className="sr-only">{strings.app.loading}</span>
      <span className="h-24 rounded-lg bg-sunken" />
      <span className="h-40 rounded-lg bg-sunken" />
    </div>
  );
}
