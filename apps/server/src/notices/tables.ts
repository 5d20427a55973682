import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  check,
  customType,
  index,
  integer,
  json,
  jsonb,
  pgTable,
  text,
  timestamp,
  unique,
  uuid,
} from 'drizzle-orm/pg-core';
import type { NoticeEvent } from '@vitto/contracts';

const bytes = customType<{ data: Buffer }>({ dataType: () => 'bytea' });
const time = (name: string) => timestamp(name, { withTimezone: true, mode: 'date', precision: 3 });
const whole = (name: string) => bigint(name, { mode: 'number' });

/** Webhooks of a user. Each is a reader of the user's journal: `position` is up to where deliveries have been made. */
export const webhooks = pgTable(
  'vitto_webhooks',
  {
    id: uuid('id').primaryKey(),
    userId: uuid('user_id').notNull(),
    url: text('url').notNull(),
    description: text('description').notNull().default(''),
    events: jsonb('events').$type<NoticeEvent[]>().notNull(),
    keyId: text('key_id').notNull(),
    sealedSecret: bytes('sealed_secret').notNull(),
    isEnabled: boolean('is_enabled').notNull().default(true),
    disabledReason: text('disabled_reason'),
    position: whole('position').notNull(),
    createdAt: time('created_at').notNull().defaultNow(),
    updatedAt: time('updated_at').notNull().defaultNow(),
  },
  (table) => [index('vitto_webhooks_user').on(table.userId)],
);

/** One delivery a webhook and event, whatever happens. Its id is the `webhook-id` that receivers deduplicate by. */
export const webhookDeliveries = pgTable(
  'vitto_webhook_deliveries',
  {
    id: uuid('id').primaryKey(),
    webhookId: uuid('webhook_id')
      .notNull()
      .references(() => webhooks.id, { onDelete: 'cascade' }),
    userId: uuid('user_id').notNull(),
    position: whole('position').notNull(),
    event: text('event').notNull(),
    body: json('body').notNull(),
    state: text('state').$type<'pending' | 'delivered' | 'failed'>().notNull().default('pending'),
    attempts: integer('attempts').notNull().default(0),
    lastStatus: integer('last_status'),
    lastError: text('last_error'),
    createdAt: time('created_at').notNull().defaultNow(),
    deliveredAt: time('delivered_at'),
  },
  (table) => [
    unique('vitto_webhook_deliveries_once').on(table.webhookId, table.position),
    index('vitto_webhook_deliveries_recent').on(table.webhookId, table.createdAt.desc()),
    check('vitto_webhook_deliveries_state', sql`state in ('pending', 'delivered', 'failed')`),
  ],
);

/** Browsers that asked to be told. The subscription's keys are sealed. */
export const pushSubscriptions = pgTable(
  'vitto_push_subscriptions',
  {
    id: uuid('id').primaryKey(),
    userId: uuid('user_id').notNull(),
    endpoint: text('endpoint').notNull().unique(),
    keyId: text('key_id').notNull(),
    sealedKeys: bytes('sealed_keys').notNull(),
    browser: text('browser').notNull(),
    /** Up to where in the user's journal this browser has been told. */
    position: whole('position').notNull(),
    createdAt: time('created_at').notNull().defaultNow(),
    lastSentAt: time('last_sent_at'),
  },
  (table) => [index('vitto_push_subscriptions_user').on(table.userId)],
);

/** The installation's key pair for Web Push (VAPID): one row, made when it is first needed. */
export const pushKeys = pgTable(
  'vitto_push_keys',
  {
    id: integer('id').primaryKey(),
    publicKey: text('public_key').notNull(),
    keyId: text('key_id').notNull(),
    sealedPrivateKey: bytes('sealed_private_key').notNull(),
  },
  () => [check('vitto_push_keys_one', sql`id = 1`)],
);
