import { sql } from 'drizzle-orm';
import {
  bigint,
  check,
  customType,
  index,
  integer,
  json,
  pgTable,
  text,
  timestamp,
  uuid,
} from 'drizzle-orm/pg-core';

const bytes = customType<{ data: Buffer }>({ dataType: () => 'bytea' });
const time = (name: string) => timestamp(name, { withTimezone: true, mode: 'date', precision: 3 });
const whole = (name: string) => bigint(name, { mode: 'number' });

/** The audit trail. Written by `vitto_audit` alone; each entry's hash covers its fields and the hash before it. */
export const auditEvents = pgTable(
  'vitto_audit_events',
  {
    seq: whole('seq').primaryKey(),
    at: time('at').notNull(),
    /** No foreign key: what a person did stays told after they are gone, without their name. */
    actorId: uuid('actor_id'),
    via: text('via').notNull(),
    address: text('address'),
    action: text('action').notNull(),
    objectType: text('object_type'),
    objectId: text('object_id'),
    detail: json('detail').notNull(),
    hash: bytes('hash').notNull(),
  },
  (table) => [
    index('vitto_audit_events_actor').on(table.actorId, table.seq.desc()),
    index('vitto_audit_events_at').on(table.at, table.seq),
    index('vitto_audit_events_action').on(table.action, table.seq.desc()),
  ],
);

/** The end of the chain: the row that every writer locks. */
export const auditHead = pgTable(
  'vitto_audit_head',
  {
    id: integer('id').primaryKey(),
    seq: whole('seq').notNull(),
    hash: bytes('hash').notNull(),
  },
  () => [check('vitto_audit_head_one', sql`id = 1`)],
);
