import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  check,
  foreignKey,
  index,
  integer,
  jsonb,
  pgSequence,
  pgTable,
  primaryKey,
  text,
  timestamp,
  unique,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';
import type { SandboxOrigin, SandboxState, StartStages } from '@vitto/contracts';

const time = (name: string) => timestamp(name, { withTimezone: true, mode: 'date', precision: 3 });
const whole = (name: string) => bigint(name, { mode: 'number' });

/** Hosts of VMs. `holder` is the process that speaks for the host: a later one takes its place, the earlier stands back. */
export const sandboxHosts = pgTable(
  'vitto_sandbox_hosts',
  {
    id: text('id').primaryKey(),
    name: text('name').notNull(),
    /** Where other servers reach it; null: only the server that it runs in does. */
    url: text('url'),
    holder: text('holder').notNull(),
    heartbeatAt: time('heartbeat_at').notNull().defaultNow(),
    provider: text('provider').notNull(),
    accelerator: text('accelerator'),
    capacity: integer('capacity').notNull(),
    running: integer('running').notNull().default(0),
    waiting: integer('waiting').notNull().default(0),
  },
  () => [check('vitto_sandbox_hosts_counts', sql`capacity >= 0 and running >= 0 and waiting >= 0`)],
);

/** Tells machines apart for the system users of their VMs. It comes round; numbers in use are passed over. */
export const vmUserNumber = pgSequence('vitto_vm_user_number', {
  minValue: 0,
  startWith: 0,
  maxValue: 59_999,
  cycle: true,
});

/**
 * A user's machine of a template on a host, whether a VM of it runs or not; its folder on the host has the row's id
 * as name. One user has one of a template on all hosts together. (`replaced_at`: its host was away for long and another
 * was made elsewhere; the row keeps its folder from being swept for a while when the host comes back.)
 */
export const vmSessions = pgTable(
  'vitto_vm_sessions',
  {
    id: uuid('id').primaryKey(),
    /** Of the identity feature; the migration adds the foreign key (cascade on erasure). */
    userId: uuid('user_id').notNull(),
    template: text('template').notNull(),
    hostId: text('host_id')
      .notNull()
      .references(() => sandboxHosts.id),
    state: text('state').$type<SandboxState>().notNull(),
    /** The VM that runs or is about to: written before it is started, so that what a crash leaves can be told. */
    vmId: uuid('vm_id').unique(),
    /** Set for as long as there may be a VM. */
    leaseHolder: text('lease_holder'),
    leaseUntil: time('lease_until'),
    /** Grows with each change of holder; a holder's write with an older one does nothing. */
    fence: whole('fence').notNull().default(0),
    origin: text('origin').$type<SandboxOrigin>(),
    acquireMs: integer('acquire_ms'),
    stages: jsonb('stages').$type<StartStages>().notNull().default([]),
    userNumber: integer('user_number')
      .notNull()
      .unique()
      .default(sql`nextval('vitto_vm_user_number')`),
    /** The image below its disk; null before its first start. */
    imageHash: text('image_hash'),
    memoryMib: integer('memory_mib').notNull(),
    cpus: integer('cpus').notNull(),
    diskGib: integer('disk_gib').notNull(),
    diskBytes: whole('disk_bytes').notNull().default(0),
    snapshotId: text('snapshot_id'),
    /** Whether the snapshot holds the newest state. Not while a VM runs, and not after it ended in another way: then the disk is newer. */
    isSnapshotCurrent: boolean('is_snapshot_current').notNull().default(false),
    snapshotAt: time('snapshot_at'),
    snapshotBytes: whole('snapshot_bytes'),
    /** Why the state of its last run is lost, for people. */
    lostReason: text('lost_reason'),
    createdAt: time('created_at').notNull().defaultNow(),
    startedAt: time('started_at'),
    lastUsedAt: time('last_used_at').notNull().defaultNow(),
    replacedAt: time('replaced_at'),
  },
  (table) => [
    uniqueIndex('vitto_vm_sessions_one')
      .on(table.userId, table.template)
      .where(sql`replaced_at is null`),
    // What claims refer to: a claim of another user cannot be written.
    unique('vitto_vm_sessions_owner').on(table.id, table.userId),
    index('vitto_vm_sessions_host').on(table.hostId),
    check(
      'vitto_vm_sessions_state',
      sql`state in ('starting', 'running', 'suspending', 'suspended', 'lost')`,
    ),
    check(
      'vitto_vm_sessions_vm',
      sql`(state in ('starting', 'running', 'suspending')) = (vm_id is not null)
        and (vm_id is null) = (lease_holder is null) and (vm_id is null) = (lease_until is null)`,
    ),
    check(
      'vitto_vm_sessions_origin',
      sql`origin in ('session', 'user-snapshot', 'user-disk', 'base-snapshot', 'boot')`,
    ),
    check('vitto_vm_sessions_lost', sql`(state = 'lost') = (lost_reason is not null)`),
    check(
      'vitto_vm_sessions_snapshot',
      sql`(snapshot_id is null) = (snapshot_at is null) and (snapshot_id is null) = (snapshot_bytes is null)`,
    ),
    check('vitto_vm_sessions_current', sql`snapshot_id is not null or not is_snapshot_current`),
    check('vitto_vm_sessions_replaced', sql`replaced_at is null or vm_id is null`),
    check(
      'vitto_vm_sessions_sizes',
      sql`memory_mib > 0 and cpus > 0 and disk_gib > 0 and disk_bytes >= 0 and snapshot_bytes >= 0`,
    ),
    check('vitto_vm_sessions_number', sql`user_number between 0 and 59999`),
  ],
);

/** A task's hold on a session: the VM runs for as long as there is one. The same task twice is one claim. */
export const vmClaims = pgTable(
  'vitto_vm_claims',
  {
    sessionId: uuid('session_id').notNull(),
    taskId: uuid('task_id').notNull(),
    userId: uuid('user_id').notNull(),
    /** The highest number of the task's lease that was seen. */
    fence: whole('fence').notNull(),
    since: time('since').notNull().defaultNow(),
    lastCallAt: time('last_call_at').notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.sessionId, table.taskId] }),
    foreignKey({
      columns: [table.sessionId, table.userId],
      foreignColumns: [vmSessions.id, vmSessions.userId],
    }).onDelete('cascade'),
    check('vitto_vm_claims_fence', sql`fence >= 0`),
  ],
);
