import { sql } from 'drizzle-orm';
import type { Failure, WaitingFor } from '@vitto/contracts';
import type {
  ActionDomain,
  Complexity,
  EstimatedDuration,
  Risk,
  TaskKind,
  TaskState,
  Tier,
} from '@vitto/contracts';
import {
  bigint,
  boolean,
  check,
  customType,
  foreignKey,
  index,
  integer,
  json,
  jsonb,
  pgTable,
  primaryKey,
  text,
  timestamp,
  unique,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';

/** To the millisecond, as programs see it: a page's cursor names a row's time exactly. */
const time = (name: string) => timestamp(name, { withTimezone: true, mode: 'date', precision: 3 });
/** Counts and money in whole billionths of a dollar: far below 2^53. */
const whole = (name: string) => bigint(name, { mode: 'number' });
const bytes = customType<{ data: Buffer }>({ dataType: () => 'bytea' });
/** The owner of a row lives in the identity feature; the migration adds its foreign keys (all cascade on erasure). */
const owner = () => uuid('user_id').notNull();

/** The last journal position given to each user's events. Locked last in every transaction. */
export const journalPositions = pgTable('vitto_journal_positions', {
  userId: uuid('user_id').primaryKey(),
  position: whole('position').notNull().default(0),
});

export const conversations = pgTable(
  'vitto_conversations',
  {
    id: uuid('id').primaryKey(),
    userId: owner(),
    title: text('title').notNull(),
    allowedPaths: jsonb('allowed_paths').$type<string[]>().notNull().default([]),
    createdAt: time('created_at').notNull().defaultNow(),
    updatedAt: time('updated_at').notNull().defaultNow(),
  },
  (table) => [index('vitto_conversations_recent').on(table.userId, table.updatedAt, table.id)],
);

export const tasks = pgTable(
  'vitto_tasks',
  {
    id: uuid('id').primaryKey(),
    userId: owner(),
    spaceId: uuid('space_id'),
    universeId: uuid('universe_id'),
    parentId: uuid('parent_id'),
    rootId: uuid('root_id').notNull(),
    depth: integer('depth').notNull(),
    kind: text('kind').$type<TaskKind>().notNull(),
    role: text('role'),
    conversationId: uuid('conversation_id').references(() => conversations.id, { onDelete: 'cascade' }),
    title: text('title').notNull(),
    state: text('state').$type<TaskState>().notNull(),
    waitingFor: jsonb('waiting_for').$type<WaitingFor>(),
    tier: text('tier').$type<Tier>(),
    complexity: text('complexity').$type<Complexity>().notNull(),
    estimatedDuration: text('estimated_duration').$type<EstimatedDuration>().notNull(),
    allowedPaths: jsonb('allowed_paths').$type<string[]>().notNull().default([]),
    /** Of a sub-Vitto: the round of its parent, its index in it, and those of its round whose results it waits for. */
    round: integer('round'),
    index: integer('index'),
    dependsOn: uuid('depends_on').array().notNull().default([]),
    /** The tools that its parent named for it; null: all of its role and tier. */
    tools: text('tools').array(),
    /** A command whose exit code 0 accepts its work. */
    acceptanceCheck: text('acceptance_check'),
    /** The model list this task asked for; null: the user's or the installation's. */
    model: text('model'),
    isTainted: boolean('is_tainted').notNull().default(false),

    /** Last journal seq given. */
    seq: integer('seq').notNull().default(0),
    /** Grows with each change of owner; an owner's write with an older one is refused. */
    fence: whole('fence').notNull().default(0),
    leaseHolder: text('lease_holder'),
    leaseUntil: time('lease_until'),
    /** Workers that died while they ran it. */
    deaths: integer('deaths').notNull().default(0),

    maxIterations: integer('max_iterations').notNull(),
    maxTokens: whole('max_tokens'),
    maxCostNano: whole('max_cost_nano'),
    maxDurationMs: whole('max_duration_ms'),
    iterations: integer('iterations').notNull().default(0),
    tokens: whole('tokens').notNull().default(0),
    reservedTokens: whole('reserved_tokens').notNull().default(0),
    costNano: whole('cost_nano').notNull().default(0),
    reservedCostNano: whole('reserved_cost_nano').notNull().default(0),
    /** The part of the reservations that this task holds itself: of the call under way, and for its closing turn. */
    ownReservedTokens: whole('own_reserved_tokens').notNull().default(0),
    ownReservedCostNano: whole('own_reserved_cost_nano').notNull().default(0),
    /** The part of the spending and of the reservations that is of the tasks below this one. */
    belowTokens: whole('below_tokens').notNull().default(0),
    belowReservedTokens: whole('below_reserved_tokens').notNull().default(0),
    belowCostNano: whole('below_cost_nano').notNull().default(0),
    belowReservedCostNano: whole('below_reserved_cost_nano').notNull().default(0),
    /** What all of them together may spend; null: what the task itself may. */
    belowMaxTokens: whole('below_max_tokens'),
    belowMaxCostNano: whole('below_max_cost_nano'),
    /** The user's day that the call under way is reserved on. */
    reservedDay: text('reserved_day'),
    /** False once anything ran on a model without a price. */
    isCostKnown: boolean('is_cost_known').notNull().default(true),
    /** Running time up to the last park or end; while it runs, since `runningSince` more. */
    ranMs: whole('ran_ms').notNull().default(0),
    runningSince: time('running_since'),

    result: text('result'),
    isSuccess: boolean('is_success'),
    error: jsonb('error').$type<Failure>(),
    createdAt: time('created_at').notNull().defaultNow(),
    startedAt: time('started_at'),
    endedAt: time('ended_at'),
  },
  (table) => [
    foreignKey({ columns: [table.parentId], foreignColumns: [table.id] }).onDelete('cascade'),
    // One conversation has at most one root task that has not ended: a second message steers it.
    uniqueIndex('vitto_tasks_one_active')
      .on(table.conversationId)
      .where(sql`parent_id is null and state not in ('completed', 'failed', 'cancelled')`),
    index('vitto_tasks_recent').on(table.userId, table.createdAt, table.id),
    index('vitto_tasks_conversation').on(table.conversationId, table.createdAt),
    index('vitto_tasks_parent')
      .on(table.parentId)
      .where(sql`parent_id is not null`),
    index('vitto_tasks_open')
      .on(table.state, table.leaseUntil)
      .where(sql`state in ('queued', 'running', 'waiting_approval', 'waiting_children', 'waiting_input')`),
    // The list of who is at work, newest first: of a few among all that have ever ended.
    index('vitto_tasks_active')
      .on(table.userId, table.createdAt, table.id)
      .where(sql`state in ('queued', 'running', 'waiting_approval', 'waiting_children', 'waiting_input')`),
    // A round is deployed once, whoever tries it twice.
    unique('vitto_tasks_place').on(table.parentId, table.round, table.index),
    // A task with all below it, newest first.
    index('vitto_tasks_root').on(table.rootId, table.createdAt, table.id),
    // Who of a user's sub-Vittos is next, and how many have a place.
    index('vitto_tasks_in_line')
      .on(table.userId, table.createdAt, table.id)
      .where(sql`kind = 'subvitto' and state = 'queued'`),
    index('vitto_tasks_places')
      .on(table.userId)
      .where(sql`kind = 'subvitto' and state = 'running'`),
    // The sweep for tasks that nobody was woken for: the oldest of however many wait.
    index('vitto_tasks_queued')
      .on(table.createdAt, table.id)
      .where(sql`state = 'queued' and kind <> 'subvitto'`),
    // What has ended of late, for whoever looks for ends that were not reported.
    index('vitto_tasks_ended')
      .on(table.endedAt, table.id)
      .where(sql`ended_at is not null`),
    check(
      'vitto_tasks_state',
      sql`state in ('queued', 'running', 'waiting_approval', 'waiting_children', 'waiting_input', 'completed', 'failed', 'cancelled')`,
    ),
    check('vitto_tasks_depth', sql`depth between 0 and 2 and (depth = 0) = (parent_id is null)`),
    // Only a running task has an owner; only a waiting task says what it waits for; only an ended one has an end.
    check(
      'vitto_tasks_lease',
      sql`(state = 'running') = (lease_holder is not null and lease_until is not null)`,
    ),
    check('vitto_tasks_waiting', sql`(state like 'waiting%') = (waiting_for is not null)`),
    check('vitto_tasks_ended', sql`(state in ('completed', 'failed', 'cancelled')) = (ended_at is not null)`),
    check(
      'vitto_tasks_spending',
      sql`iterations >= 0 and tokens >= 0 and reserved_tokens >= 0 and cost_nano >= 0 and reserved_cost_nano >= 0`,
    ),
    check(
      'vitto_tasks_below',
      sql`below_tokens between 0 and tokens and below_reserved_tokens between 0 and reserved_tokens and below_cost_nano between 0 and cost_nano and below_reserved_cost_nano between 0 and reserved_cost_nano`,
    ),
  ],
);

/** The journal: append-only, the single truth (specification 01). Written only by the function `vitto_append`. */
export const taskEvents = pgTable(
  'vitto_task_events',
  {
    taskId: uuid('task_id')
      .notNull()
      .references(() => tasks.id, { onDelete: 'cascade' }),
    seq: integer('seq').notNull(),
    userId: owner(),
    position: whole('position').notNull(),
    conversationId: uuid('conversation_id'),
    type: text('type').notNull(),
    /** `json`, not `jsonb`: what a provider gave is kept letter by letter. */
    payload: json('payload').notNull(),
    at: time('at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.taskId, table.seq] }),
    unique('vitto_task_events_position').on(table.userId, table.position),
    // A conversation without its streaming deltas, which no one reads once a turn is complete.
    index('vitto_task_events_conversation')
      .on(table.conversationId, table.position)
      .where(sql`type not in ('agent.text', 'agent.reasoning', 'tool.progress')`),
    // The timeline of a task, which shows no deltas.
    index('vitto_task_events_steps')
      .on(table.taskId, table.seq)
      .where(sql`type not in ('agent.text', 'agent.reasoning', 'tool.progress')`),
    // What was asked and what was answered: two rows a task, however much it did in between.
    index('vitto_task_events_messages')
      .on(table.conversationId, table.position)
      .where(sql`type in ('user.message', 'task.completed', 'task.failed')`),
  ],
);

/** What a user has spent on one day of their own time zone, for the daily cap. */
export const dailySpending = pgTable(
  'vitto_daily_spending',
  {
    userId: owner(),
    day: text('day').notNull(),
    costNano: whole('cost_nano').notNull().default(0),
    reservedCostNano: whole('reserved_cost_nano').notNull().default(0),
  },
  (table) => [primaryKey({ columns: [table.userId, table.day] })],
);

/** What each day's turns used, by model: summed up as they are journaled, so that costs are read in one look. */
export const dailyUsage = pgTable(
  'vitto_daily_usage',
  {
    userId: owner(),
    /** Of the user's own time zone. */
    day: text('day').notNull(),
    model: text('model').notNull(),
    turns: integer('turns').notNull().default(0),
    inputTokens: whole('input_tokens').notNull().default(0),
    cachedInputTokens: whole('cached_input_tokens').notNull().default(0),
    outputTokens: whole('output_tokens').notNull().default(0),
    costNano: whole('cost_nano').notNull().default(0),
    unpricedTurns: integer('unpriced_turns').notNull().default(0),
  },
  (table) => [primaryKey({ columns: [table.userId, table.day, table.model] })],
);

export const approvals = pgTable(
  'vitto_approvals',
  {
    id: uuid('id').primaryKey(),
    taskId: uuid('task_id')
      .notNull()
      .references(() => tasks.id, { onDelete: 'cascade' }),
    userId: owner(),
    callId: text('call_id').notNull(),
    tool: text('tool').notNull(),
    arguments: json('arguments').notNull(),
    argumentsHash: text('arguments_hash').notNull(),
    reason: text('reason').notNull(),
    risk: text('risk').$type<Risk>().notNull(),
    domain: text('domain').$type<ActionDomain>().notNull(),
    state: text('state').$type<'pending' | 'approved' | 'refused' | 'expired' | 'void'>().notNull(),
    note: text('note'),
    decidedBy: text('decided_by'),
    createdAt: time('created_at').notNull().defaultNow(),
    expiresAt: time('expires_at').notNull(),
    decidedAt: time('decided_at'),
    /** Set in the transaction that journals the call it allowed: an approval is used once. */
    usedAt: time('used_at'),
  },
  (table) => [
    unique('vitto_approvals_call').on(table.taskId, table.callId),
    index('vitto_approvals_recent').on(table.userId, table.state, table.createdAt, table.id),
    index('vitto_approvals_due')
      .on(table.expiresAt)
      .where(sql`state = 'pending'`),
    check('vitto_approvals_state', sql`state in ('pending', 'approved', 'refused', 'expired', 'void')`),
    check('vitto_approvals_decided', sql`(state = 'pending') = (decided_at is null)`),
    check('vitto_approvals_used', sql`used_at is null or state = 'approved'`),
  ],
);

export const artifacts = pgTable(
  'vitto_artifacts',
  {
    id: uuid('id').primaryKey(),
    userId: owner(),
    taskId: uuid('task_id').references(() => tasks.id, { onDelete: 'cascade' }),
    name: text('name').notNull(),
    mediaType: text('media_type').notNull(),
    bytes: whole('bytes').notNull().default(0),
    isTruncated: boolean('is_truncated').notNull().default(false),
    /** False while it is being written. */
    isComplete: boolean('is_complete').notNull().default(false),
    createdAt: time('created_at').notNull().defaultNow(),
  },
  (table) => [index('vitto_artifacts_task').on(table.taskId, table.id)],
);

/** The content of artifacts in parts of at most 256 KiB, in the database so that every process reads it and one backup holds it. */
export const artifactChunks = pgTable(
  'vitto_artifact_chunks',
  {
    artifactId: uuid('artifact_id')
      .notNull()
      .references(() => artifacts.id, { onDelete: 'cascade' }),
    index: integer('index').notNull(),
    /** Bytes before this part. */
    offset: whole('offset').notNull(),
    content: bytes('content').notNull(),
  },
  (table) => [primaryKey({ columns: [table.artifactId, table.index] })],
);
