import { integer, jsonb, pgTable, text, timestamp } from 'drizzle-orm/pg-core';

/** Processes of this installation that are alive, with a heartbeat by the database's clock. */
export const processes = pgTable('vitto_processes', {
  /** Unique a start: host, pid and a random part. */
  id: text('id').primaryKey(),
  host: text('host').notNull(),
  pid: integer('pid').notNull(),
  roles: jsonb('roles').$type<string[]>().notNull(),
  version: text('version').notNull(),
  startedAt: timestamp('started_at', { withTimezone: true, mode: 'date' }).notNull().defaultNow(),
  heartbeatAt: timestamp('heartbeat_at', { withTimezone: true, mode: 'date' }).notNull().defaultNow(),
});
