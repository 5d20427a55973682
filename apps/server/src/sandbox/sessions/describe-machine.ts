import type { SandboxInfo, UserSandbox } from '@vitto/contracts';
import { maskSecrets } from '../../kernel/text/mask-secrets.ts';
import type { ClaimRow } from './claim.store.ts';
import type { LiveSession } from './live-session.ts';
import type { MachineRow } from './machine.store.ts';

const DAY_MS = 86_400_000;

/** A machine as people are told of it. */
export async function describeMachine(
  row: MachineRow,
  live: LiveSession | null,
  claims: ClaimRow[],
  facts: { now: number; snapshotMaxAgeDays: number },
): Promise<SandboxInfo> {
  const memoryBytes = (await live?.sandbox?.vm.memoryBytes().catch(() => null)) ?? null;
  return {
    id: row.id,
    userId: row.userId,
    template: row.template,
    hostId: row.hostId,
    state: row.state,
    from: row.origin,
    acquireTimeMs: row.acquireMs,
    stages: row.stages,
    startedAt: row.startedAt?.toISOString() ?? null,
    lastUsedAt: row.lastUsedAt.toISOString(),
    memoryBytes,
    memoryMib: row.memoryMib,
    cpus: row.cpus,
    diskBytes: row.diskBytes,
    claims: claims.map(({ taskId, fence, since, lastCallAt }) => ({
      taskId,
      isTask: fence > 0,
      since: since.toISOString(),
      lastCallAt: (lastCallIn(live, taskId) ?? lastCallAt).toISOString(),
    })),
    commands: (live?.calls ?? []).flatMap(({ taskId, command, since }) =>
      command === null ? [] : [{ taskId, command: maskSecrets(command), since: since.toISOString() }],
    ),
    snapshot: describeSnapshot(row, facts),
  };
}

export function describeUserSandbox(row: MachineRow | null, now: number): UserSandbox {
  if (row === null) return { exists: false, state: null, snapshotAgeDays: null, template: null, bytes: 0 };
  const { state, template, snapshotAt } = row;
  const snapshotAgeDays =
    snapshotAt === null ? null : Math.max(0, Math.floor(((now - snapshotAt.getTime()) / DAY_MS) * 100) / 100);
  return { exists: true, state, snapshotAgeDays, template, bytes: row.diskBytes + (row.snapshotBytes ?? 0) };
}

/** The database is told of calls from time to time only. */
function lastCallIn(live: LiveSession | null, taskId: string): Date | undefined {
  return live?.claims.all.find((claim) => claim.taskId === taskId)?.lastCallAt;
}

function describeSnapshot(
  row: MachineRow,
  { now, snapshotMaxAgeDays }: { now: number; snapshotMaxAgeDays: number },
): SandboxInfo['snapshot'] {
  const { snapshotId, snapshotAt, snapshotBytes } = row;
  if (snapshotId === null || snapshotAt === null || snapshotBytes === null) return null;
  const isTooOld = now - snapshotAt.getTime() > snapshotMaxAgeDays * DAY_MS;
  const reason = !row.isSnapshotCurrent
    ? 'The disk is newer.'
    : isTooOld
      ? `It is older than ${snapshotMaxAgeDays} days.`
      : null;
  return {
    id: snapshotId,
    createdAt: snapshotAt.toISOString(),
    bytes: snapshotBytes,
    isUsable: reason === null,
    reason,
  };
}
