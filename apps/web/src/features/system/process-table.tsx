import type { ProcessStatus, SystemStatus } from '@vitto/contracts';
import { DataTable, type Column } from '../../components/data-table.tsx';
import { Section } from '../../components/section.tsx';
import { useFeatureStrings } from '../../i18n/define-strings.ts';
import { systemStrings } from './strings.ts';
import { useAge } from './use-age.ts';

/** The processes of the installation and when each was last heard of. */
export function ProcessTable({ status, readAt }: { status: SystemStatus; readAt: number }) {
  const strings = useFeatureStrings(systemStrings);
  const age = useAge(status, readAt);
  const columns: Column<ProcessStatus>[] = [
    {
      key: 'process',
      label: strings.process,
      isName: true,
      cell: (one) => (
        <>
          <span className="mono block whitespace-nowrap">
            {one.host}:{one.pid}
          </span>
          <span className={one.isAlive ? 'text-green' : 'text-red'}>
            {one.isAlive ? strings.alive : strings.silent}
          </span>
        </>
      ),
    },
    { key: 'roles', label: strings.roles, cell: (one) => one.roles.join(', ') },
    { key: 'version', label: strings.version, cell: (one) => one.version },
    { key: 'runs', label: strings.runs, isNumber: true, cell: (one) => one.runningTasks },
    {
      key: 'heartbeat',
      label: strings.heartbeat,
      isNumber: true,
      cell: (one) => <span className="inline-block min-w-24">{strings.ago(age(one.heartbeatAt))}</span>,
    },
    {
      key: 'up',
      label: strings.up,
      isNumber: true,
      cell: (one) => <span className="inline-block min-w-24">{age(one.startedAt)}</span>,
    },
  ];
  return (
    <Section title={strings.processes}>
      <DataTable
        label={strings.processes}
        columns={columns}
        rows={status.processes}
        rowKey={(one) => one.id}
      />
    </Section>
  );
}
