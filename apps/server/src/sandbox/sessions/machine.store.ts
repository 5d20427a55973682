import type { SandboxOrigin, SandboxState, StartStages } from '@vitto/contracts';
import { sqlState, type Database } from '../../kernel/database/database.ts';
import { inTransaction } from '../../kernel/database/transaction.ts';
import { notFound } from '../../kernel/app-error.ts';
import { newId } from '../../kernel/ids.ts';
import type { MachineSnapshot } from '../providers/sandbox-provider.ts';

/** A user's machine of a template, as the database knows it. */
export interface MachineRow {
  id: string;
  userId: string;
  template: string;
  hostId: string;
  state: SandboxState;
  vmId: string | null;
  leaseHolder: string | null;
  origin: SandboxOrigin | null;
  acquireMs: number | null;
  stages: StartStages;
  userNumber: number;
  imageHash: string | null;
  memoryMib: number;
  cpus: number;
  diskGib: number;
  diskBytes: number;
  snapshotId: string | null;
  isSnapshotCurrent: boolean;
  snapshotAt: Date | null;
  snapshotBytes: number | null;
  lostReason: string | null;
  startedAt: Date | null;
  lastUsedAt: Date;
  replacedAt: Date | null;
  /** Whether a VM of it has ever run: before that there is no disk of the user's. */
  hasStarted: boolean;
}

/** How long a host and its leases count as alive after their last sign of life. */
export const ALIVE_SECONDS = 60;

const COLUMNS = `id, user_id as "userId", template, host_id as "hostId", state, vm_id as "vmId",
  lease_holder as "leaseHolder", origin, acquire_ms as "acquireMs", stages, user_number as "userNumber",
  image_hash as "imageHash", memory_mib as "memoryMib", cpus, disk_gib as "diskGib", disk_bytes::float8 as "diskBytes",
  snapshot_id as "snapshotId", is_snapshot_current as "isSnapshotCurrent", snapshot_at as "snapshotAt",
  snapshot_bytes::float8 as "snapshotBytes", lost_reason as "lostReason", started_at as "startedAt",
  last_used_at as "lastUsedAt", replaced_at as "replacedAt", origin is not null as "hasStarted"`;
const LEASE_END = `clock_timestamp() + make_interval(secs => ${ALIVE_SECONDS})`;
const NO_VM = 'vm_id = null, lease_holder = null, lease_until = null';

async function rows(database: Database, text: string, values: unknown[]): Promise<MachineRow[]> {
  const result = await database.pool.query(text, values);
  return result.rows as MachineRow[];
}
async function isDone(database: Database, text: string, values: unknown[]): Promise<boolean> {
  return (await database.pool.query(text, values)).rowCount !== 0;
}

/** The user's machine of a template, wherever it is; `isHostAlive`: its host has shown a sign of life lately. */
export async function findMachine(
  database: Database,
  userId: string,
  template: string,
): Promise<(MachineRow & { isHostAlive: boolean }) | null> {
  const found = await rows(
    database,
    `select ${COLUMNS}, coalesce(lease_until, '-infinity') > clock_timestamp() or exists (
         select 1 from vitto_sandbox_hosts h where h.id = host_id
         and h.heartbeat_at > clock_timestamp() - make_interval(secs => ${ALIVE_SECONDS})) as "isHostAlive"
     from vitto_vm_sessions where user_id = $1 and template = $2 and replaced_at is null`,
    [userId, template],
  );
  return (found[0] as (MachineRow & { isHostAlive: boolean }) | undefined) ?? null;
}

/** A machine of this host by its id. */
export async function readMachine(
  database: Database,
  id: string,
  hostId: string,
): Promise<MachineRow | null> {
  const found = await rows(
    database,
    `select ${COLUMNS} from vitto_vm_sessions where id = $1 and host_id = $2`,
    [id, hostId],
  );
  return found[0] ?? null;
}

/** The machines of this host, the last used first. */
export function listMachines(
  database: Database,
  hostId: string,
  userId: string | null,
): Promise<MachineRow[]> {
  return rows(
    database,
    `select ${COLUMNS} from vitto_vm_sessions where host_id = $1 and ($2::uuid is null or user_id = $2)
     order by last_used_at desc, id`,
    [hostId, userId],
  );
}

export interface NewMachine {
  userId: string;
  template: string;
  hostId: string;
  memoryMib: number;
  cpus: number;
  diskGib: number;
}

/** Makes the user's machine unless there is one: of those who do it at once, on whatever host, one succeeds. */
export async function createMachine(database: Database, machine: NewMachine): Promise<void> {
  const { userId, template, hostId, memoryMib, cpus, diskGib } = machine;
  for (let tries = 1; ; tries += 1) {
    try {
      await database.pool.query(
        `insert into vitto_vm_sessions (id, user_id, template, host_id, state, memory_mib, cpus, disk_gib)
         values ($1, $2, $3, $4, 'suspended', $5, $6, $7)
         on conflict (user_id, template) where replaced_at is null do nothing`,
        [newId(), userId, template, hostId, memoryMib, cpus, diskGib],
      );
      return;
    } catch (error) {
      if (sqlState(error) === '23503') throw notFound('user');
      // The numbers have come round and this one is still in use: the next one may be free.
      if (sqlState(error) !== '23505' || tries === 100) throw error;
    }
  }
}

/**
 * Sets a machine aside whose host has shown no sign of life for long, so that another can be made. Its row is kept: when
 * the host comes back, it ends the VM and keeps the disk for a while.
 */
export async function setMachineAside(database: Database, id: string): Promise<boolean> {
  return inTransaction(database, async (client) => {
    const aside = await client.query(
      `update vitto_vm_sessions s set replaced_at = clock_timestamp(), state = 'lost', ${NO_VM},
         is_snapshot_current = false, lost_reason = 'its host was away for long, and another machine was made elsewhere'
       where id = $1 and replaced_at is null and coalesce(lease_until, '-infinity') <= clock_timestamp()
         and not exists (select 1 from vitto_sandbox_hosts h where h.id = s.host_id
           and h.heartbeat_at > clock_timestamp() - make_interval(secs => ${ALIVE_SECONDS}))`,
      [id],
    );
    if (aside.rowCount === 0) return false;
    await client.query('delete from vitto_vm_claims where session_id = $1', [id]);
    return true;
  });
}

/** A machine and the process that holds it: what is written for it by another one does nothing and gives false. */
export interface Held {
  id: string;
  hostId: string;
  holder: string;
}

/** Writes down which VM is about to be started, before anything of it is there. */
export function markStarting(
  database: Database,
  held: Held,
  start: { vmId: string; imageHash: string; memoryMib: number; cpus: number },
): Promise<boolean> {
  return isDone(
    database,
    `update vitto_vm_sessions set state = 'starting', vm_id = $4, image_hash = $5, memory_mib = $6, cpus = $7,
       lost_reason = null,
       fence = fence + case when lease_holder = $3 then 0 else 1 end,
       lease_holder = $3, lease_until = ${LEASE_END}, last_used_at = clock_timestamp()
     where id = $1 and host_id = $2 and replaced_at is null and (vm_id is null or lease_holder = $3)
       and exists (select 1 from vitto_sandbox_hosts h where h.id = $2 and h.holder = $3)`,
    [held.id, held.hostId, held.holder, start.vmId, start.imageHash, start.memoryMib, start.cpus],
  );
}

/** From here on the disk is newer than the snapshot. */
export function markRunning(
  database: Database,
  held: Held,
  start: { vmId: string; origin: SandboxOrigin; acquireMs: number; stages: StartStages },
): Promise<boolean> {
  return isDone(
    database,
    `update vitto_vm_sessions set state = 'running', origin = $5, acquire_ms = $6, stages = $7,
       is_snapshot_current = false, started_at = clock_timestamp(), last_used_at = clock_timestamp()
     where id = $1 and host_id = $2 and lease_holder = $3 and vm_id = $4`,
    [
      held.id,
      held.hostId,
      held.holder,
      start.vmId,
      start.origin,
      Math.round(start.acquireMs),
      JSON.stringify(start.stages),
    ],
  );
}

export function markSuspending(database: Database, held: Held): Promise<boolean> {
  return isDone(
    database,
    `update vitto_vm_sessions set state = 'suspending'
     where id = $1 and host_id = $2 and lease_holder = $3 and vm_id is not null`,
    [held.id, held.hostId, held.holder],
  );
}

/** How a machine's VM ended. */
export interface VmEnd {
  /** Taken as it ended; `null`: none, or the one before is as current as it was (`'unchanged'`). */
  snapshot: MachineSnapshot | 'unchanged' | null;
  /** Why what was in memory is gone; `null` when nothing is. */
  lostReason: string | null;
  diskBytes: number | null;
}

/** No VM of the machine is left. Its claims end with it, unless `keepClaims`: it is about to start again. */
export async function markEnded(
  database: Database,
  held: Held,
  end: VmEnd & { keepClaims?: boolean },
): Promise<boolean> {
  const taken = end.snapshot === 'unchanged' ? null : end.snapshot;
  return inTransaction(database, async (client) => {
    const ended = await client.query(
      `update vitto_vm_sessions set state = case when $4::text is null then 'suspended' else 'lost' end,
         ${NO_VM}, lost_reason = $4, disk_bytes = coalesce($5, disk_bytes), last_used_at = clock_timestamp(),
         snapshot_id = coalesce($6, snapshot_id), snapshot_at = coalesce($7, snapshot_at),
         snapshot_bytes = coalesce($8, snapshot_bytes),
         is_snapshot_current = case when $9 then is_snapshot_current and $4::text is null else $6::text is not null end
       where id = $1 and host_id = $2 and lease_holder = $3 and vm_id is not null`,
      [
        held.id,
        held.hostId,
        held.holder,
        end.lostReason,
        end.diskBytes,
        taken?.id ?? null,
        taken?.createdAt ?? null,
        taken?.bytes ?? null,
        end.snapshot === 'unchanged',
      ],
    );
    if (ended.rowCount === 0) return false;
    if (end.keepClaims !== true)
      await client.query('delete from vitto_vm_claims where session_id = $1', [held.id]);
    return true;
  });
}

/** Takes the row of a machine away that runs nowhere; `userId`: only when it is this user's. */
export function deleteMachine(
  database: Database,
  machine: { id: string; hostId: string; userId: string },
): Promise<boolean> {
  return isDone(
    database,
    'delete from vitto_vm_sessions where id = $1 and host_id = $2 and user_id = $3 and vm_id is null',
    [machine.id, machine.hostId, machine.userId],
  );
}

/** Machines of this host that were set aside longer ago than this. */
export function listOldMachinesAside(
  database: Database,
  hostId: string,
  days: number,
): Promise<MachineRow[]> {
  return rows(
    database,
    `select ${COLUMNS} from vitto_vm_sessions
     where host_id = $1 and replaced_at < clock_timestamp() - make_interval(secs => $2::float8 * 86400)`,
    [hostId, days],
  );
}
