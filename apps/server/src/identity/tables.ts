import { sql } from 'drizzle-orm';
import {
  check,
  customType,
  index,
  jsonb,
  pgTable,
  primaryKey,
  text,
  timestamp,
  unique,
  uuid,
} from 'drizzle-orm/pg-core';
import type { Settings, TokenScope } from '@vitto/contracts';

const bytes = customType<{ data: Buffer }>({ dataType: () => 'bytea' });
const time = (name: string) => timestamp(name, { withTimezone: true, mode: 'date' });

export const users = pgTable(
  'vitto_users',
  {
    id: uuid('id').primaryKey(),
    name: text('name').notNull(),
    role: text('role').$type<'owner' | 'admin' | 'member' | 'viewer'>().notNull(),
    createdAt: time('created_at').notNull().defaultNow(),
  },
  (table) => [check('vitto_users_role', sql`${table.role} in ('owner', 'admin', 'member', 'viewer')`)],
);

export const userSettings = pgTable('vitto_user_settings', {
  userId: uuid('user_id')
    .primaryKey()
    .references(() => users.id, { onDelete: 'cascade' }),
  settings: jsonb('settings').$type<Partial<Settings>>().notNull(),
  updatedAt: time('updated_at').notNull().defaultNow(),
});

/** Browser sessions. Only the SHA-256 of the cookie's value is stored. */
export const sessions = pgTable(
  'vitto_sessions',
  {
    tokenHash: text('token_hash').primaryKey(),
    userId: uuid('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    csrfToken: text('csrf_token').notNull(),
    createdAt: time('created_at').notNull().defaultNow(),
    lastSeenAt: time('last_seen_at').notNull().defaultNow(),
    expiresAt: time('expires_at').notNull(),
  },
  (table) => [index('vitto_sessions_user').on(table.userId)],
);

/** One-time sign-in codes. Only the SHA-256 of the code is stored. */
export const signInCodes = pgTable('vitto_sign_in_codes', {
  codeHash: text('code_hash').primaryKey(),
  userId: uuid('user_id')
    .notNull()
    .references(() => users.id, { onDelete: 'cascade' }),
  createdAt: time('created_at').notNull().defaultNow(),
  expiresAt: time('expires_at').notNull(),
  usedAt: time('used_at'),
});

/** Personal API tokens for the CLI and for integrations. Only the SHA-256 of the token is stored. */
export const apiTokens = pgTable(
  'vitto_api_tokens',
  {
    id: uuid('id').primaryKey(),
    userId: uuid('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    name: text('name').notNull(),
    tokenHash: text('token_hash').notNull().unique(),
    scopes: jsonb('scopes').$type<TokenScope[]>().notNull().default(['read', 'run', 'approve', 'manage']),
    createdAt: time('created_at').notNull().defaultNow(),
    lastUsedAt: time('last_used_at'),
    expiresAt: time('expires_at'),
  },
  (table) => [index('vitto_api_tokens_user').on(table.userId)],
);

/** Named secrets of a user, sealed with the master key (`key_id` names it); bound to user and name. */
export const secrets = pgTable(
  'vitto_secrets',
  {
    userId: uuid('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    name: text('name').notNull(),
    keyId: text('key_id').notNull(),
    sealed: bytes('sealed').notNull(),
    createdAt: time('created_at').notNull().defaultNow(),
    updatedAt: time('updated_at').notNull().defaultNow(),
    lastUsedAt: time('last_used_at'),
  },
  (table) => [primaryKey({ columns: [table.userId, table.name] })],
);

/** Keys with which git of a user's machines reaches one repository each. The private half is sealed; bound to user and id. */
export const deployKeys = pgTable(
  'vitto_deploy_keys',
  {
    id: uuid('id').primaryKey(),
    userId: uuid('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    /** As `formatRepository` writes it. */
    repository: text('repository').notNull(),
    publicKey: text('public_key').notNull(),
    keyId: text('key_id').notNull(),
    sealed: bytes('sealed').notNull(),
    hostKeys: jsonb('host_keys').$type<string[]>().notNull(),
    createdAt: time('created_at').notNull().defaultNow(),
    lastUsedAt: time('last_used_at'),
  },
  (table) => [unique('vitto_deploy_keys_repository').on(table.userId, table.repository)],
);

/** Providers of models that were set up in the app, for the whole installation. The key is sealed. */
export const modelProviders = pgTable('vitto_model_providers', {
  name: text('name').primaryKey(),
  keyId: text('key_id'),
  sealed: bytes('sealed'),
  baseUrl: text('base_url'),
  updatedAt: time('updated_at').notNull().defaultNow(),
});
