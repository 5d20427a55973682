import { sql } from 'drizzle-orm';
import type { ActionDomain, Complexity, Outcome, TaskKind, Tier, VerdictSource } from '@vitto/contracts';
import { bigint, boolean, check, index, integer, pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core';

const time = (name: string) => timestamp(name, { withTimezone: true, mode: 'date', precision: 3 });
const whole = (name: string) => bigint(name, { mode: 'number' });

/**
 * What became of each task that has ended: one row a task. Trust is built on it, so it outlives the conversation it
 * comes from (no foreign key to tasks) and goes with its user (the migration adds that one).
 */
export const outcomes = pgTable(
  'vitto_outcomes',
  {
    taskId: uuid('task_id').primaryKey(),
    userId: uuid('user_id').notNull(),
    parentTaskId: uuid('parent_task_id'),
    rootTaskId: uuid('root_task_id').notNull(),
    /** Empty once its conversation is deleted: it is made of what was said there. */
    title: text('title').notNull(),
    /** What started the task. */
    source: text('source').$type<TaskKind>().notNull(),
    role: text('role'),
    expert: text('expert'),
    tier: text('tier').$type<Tier>(),
    complexity: text('complexity').$type<Complexity>().notNull(),
    domain: text('domain').$type<ActionDomain>().notNull(),
    toolsUsed: text('tools_used').array().notNull(),
    endState: text('end_state').$type<Outcome['end']>().notNull(),
    success: boolean('success').notNull(),
    verdictSource: text('verdict_source').$type<VerdictSource>().notNull(),
    /** The first model that served it; null: none did. */
    model: text('model'),
    iterations: integer('iterations').notNull(),
    /** Its own and those of its sub-Vittos, as the cost. */
    tokens: whole('tokens').notNull(),
    /** Billionths of a dollar; null: something ran on a model without a price. */
    costNano: whole('cost_nano'),
    durationMs: whole('duration_ms').notNull(),
    endedAt: time('ended_at').notNull(),
    reportedAt: time('reported_at').notNull().defaultNow(),
  },
  (table) => [
    index('vitto_outcomes_recent').on(table.userId, table.endedAt, table.taskId),
    index('vitto_outcomes_parent')
      .on(table.parentTaskId, table.endedAt, table.taskId)
      .where(sql`parent_task_id is not null`),
    index('vitto_outcomes_domain').on(table.userId, table.domain, table.endedAt),
    check('vitto_outcomes_end', sql`end_state in ('completed', 'failed', 'cancelled')`),
    check('vitto_outcomes_verdict', sql`verdict_source in ('self', 'check', 'user')`),
    // A task that was cut short says of itself that it did not succeed: only others may know better.
    check(
      'vitto_outcomes_self',
      sql`success is false or end_state = 'completed' or verdict_source <> 'self'`,
    ),
    check(
      'vitto_outcomes_domain_known',
      sql`domain in ('code_execution', 'web_search', 'messaging', 'deployment', 'knowledge', 'delegation', 'system')`,
    ),
    check(
      'vitto_outcomes_amounts',
      sql`iterations >= 0 and tokens >= 0 and cost_nano >= 0 and duration_ms >= 0`,
    ),
  ],
);
