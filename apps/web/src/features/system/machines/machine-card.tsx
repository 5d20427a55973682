import type { SandboxInfo, SandboxState } from '@vitto/contracts';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Elapsed } from '../../../components/elapsed.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { formatBytes, formatDuration } from '../../chat/model/format.ts';
import { MachineActs } from './machine-acts.tsx';
import { StartStages } from './start-stages.tsx';
import { machineStrings, type MachineStrings } from './strings.ts';
import { useAgo } from './use-ago.ts';

const LOOKS: Record<SandboxState, string> = {
  starting: 'text-accent',
  running: 'text-accent',
  suspending: 'text-accent',
  suspended: 'text-muted',
  lost: 'text-amber',
};
const MIB = 1024 * 1024;

/** A machine: its state, how it came, who holds it, what it runs, what is kept of it, and what can be done with it. */
export function MachineCard({ machine, saysWhose }: { machine: SandboxInfo; saysWhose: boolean }) {
  const strings = useFeatureStrings(machineStrings);
  const isLive = machine.state !== 'suspended' && machine.state !== 'lost';
  const name = nameOf(machine);
  return (
    <li>
      <article
        aria-label={name}
        className="tabular grid grid-cols-[minmax(0,1fr)] gap-2 rounded-lg border border-line bg-surface p-3"
      >
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <h3 className="flex-1 font-medium">
            {machine.template} <span className="mono text-muted">{shortId(machine.id)}</span>
          </h3>
          <span className={`flex items-center gap-1.5 font-medium ${LOOKS[machine.state]}`}>
            {isLive && <span className="live-dot" />}
            {strings.states[machine.state]}
          </span>
        </div>
        <p className="text-muted [overflow-wrap:anywhere]">
          <Facts machine={machine} saysWhose={saysWhose} />
        </p>
        {machine.state === 'lost' && <p className="text-amber">{strings.lostMore}</p>}
        <dl className="grid grid-cols-[minmax(0,1fr)] gap-x-4 gap-y-1 sm:grid-cols-[6.5rem_minmax(0,1fr)]">
          {machine.commands.length > 0 && (
            <Row label={strings.runs}>
              <Commands machine={machine} />
            </Row>
          )}
          {machine.state === 'running' && (
            <Row label={strings.heldBy}>
              <Claims machine={machine} />
            </Row>
          )}
          <Row label={strings.snapshot}>
            <Snapshot machine={machine} />
          </Row>
        </dl>
        {machine.stages.length > 0 && <StartStages stages={machine.stages} />}
        <MachineActs machine={machine} name={name} />
      </article>
    </li>
  );
}

function Facts({ machine, saysWhose }: { machine: SandboxInfo; saysWhose: boolean }) {
  const strings = useFeatureStrings(machineStrings);
  const ago = useAgo();
  return describeMachine(machine, saysWhose, strings, ago).join(' · ');
}

function describeMachine(
  machine: SandboxInfo,
  saysWhose: boolean,
  strings: MachineStrings,
  ago: (time: string) => string,
): string[] {
  const { from, acquireTimeMs, startedAt, memoryBytes, state } = machine;
  const of = formatBytes(machine.memoryMib * MIB);
  const how = from === null ? null : strings.from[from];
  return [
    how !== null && acquireTimeMs !== null ? strings.cameIn(how, formatDuration(acquireTimeMs)) : how,
    state === 'running' && startedAt !== null
      ? strings.upFor(ago(startedAt))
      : strings.usedAgo(ago(machine.lastUsedAt)),
    memoryBytes === null ? strings.memoryOf(of) : strings.memory(formatBytes(memoryBytes), of),
    strings.cpus(machine.cpus),
    // Measured when it is suspended.
    machine.diskBytes === 0 ? null : strings.disk(formatBytes(machine.diskBytes)),
    saysWhose ? strings.ofUser(shortId(machine.userId)) : null,
  ].filter((fact) => fact !== null);
}

function Row({ label, children }: { label: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-muted">{label}</dt>
      <dd className="min-w-0 [overflow-wrap:anywhere]">{children}</dd>
    </>
  );
}

function Commands({ machine: { commands } }: { machine: SandboxInfo }) {
  return (
    <ul className="grid grid-cols-[minmax(0,1fr)]">
      {commands.map(({ command, since, taskId }) => (
        <li key={`${taskId} ${since}`} className="flex gap-3">
          <span className="mono min-w-0 flex-1 truncate" title={command.toWellFormed()} dir="auto">
            {command.toWellFormed()}
          </span>
          <span className="text-accent">
            <Elapsed since={since} />
          </span>
        </li>
      ))}
    </ul>
  );
}

function Claims({ machine: { claims } }: { machine: SandboxInfo }) {
  const strings = useFeatureStrings(machineStrings);
  if (claims.length === 0) return <span className="text-muted">{strings.idle}</span>;
  return (
    <ul className="flex flex-wrap gap-x-3">
      {claims.map(({ taskId, isTask }) => (
        <li key={taskId}>
          {isTask ? (
            <Link
              to="/vitto/t/$taskId"
              params={{ taskId }}
              className="text-accent underline underline-offset-2"
            >
              {strings.task(shortId(taskId))}
            </Link>
          ) : (
            strings.person
          )}
        </li>
      ))}
    </ul>
  );
}

function Snapshot({ machine: { snapshot, state } }: { machine: SandboxInfo }) {
  const strings = useFeatureStrings(machineStrings);
  const ago = useAgo();
  if (snapshot === null) return <span className="text-muted">{strings.noSnapshot}</span>;
  return (
    <>
      {strings.snapshotOf(ago(snapshot.createdAt), formatBytes(snapshot.bytes))}
      {!snapshot.isUsable &&
        (state === 'running' || state === 'suspending' ? (
          // What runs is newer than any snapshot: nothing is wrong with it.
          <span className="text-muted"> · {strings.isRenewed}</span>
        ) : (
          <span className="text-amber"> · {strings.notUsable((snapshot.reason ?? '').toWellFormed())}</span>
        ))}
    </>
  );
}

function nameOf(machine: SandboxInfo): string {
  return `${machine.template} ${shortId(machine.id)}`;
}

/** The end of an id: the beginnings of ids that were made in the same minute are alike. */
function shortId(id: string): string {
  return id.slice(-8);
}
