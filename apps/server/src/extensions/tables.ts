import { sql } from 'drizzle-orm';
import {
  boolean,
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
import type {
  ActionDomain,
  Failure,
  McpToolChoice,
  McpToolDefinition,
  McpTransport,
  Risk,
} from '@vitto/contracts';

const bytes = customType<{ data: Buffer }>({ dataType: () => 'bytea' });
const time = (name: string) => timestamp(name, { withTimezone: true, mode: 'date', precision: 3 });

/**
 * MCP servers of a user. What tasks are offered is what the user has approved, by its hash; what the server offered
 * last stands beside it when it differs. Header and environment values may name secrets, never hold them.
 */
export const mcpServers = pgTable(
  'vitto_mcp_servers',
  {
    id: uuid('id').primaryKey(),
    userId: uuid('user_id').notNull(),
    name: text('name').notNull(),
    transport: jsonb('transport').$type<McpTransport>().notNull(),
    domain: text('domain').$type<ActionDomain>().notNull(),
    risk: text('risk').$type<Risk>().notNull(),
    toolChoices: jsonb('tool_choices').$type<Record<string, McpToolChoice>>().notNull().default({}),
    isEnabled: boolean('is_enabled').notNull().default(true),
    approvedTools: jsonb('approved_tools').$type<McpToolDefinition[]>().notNull().default([]),
    approvedHash: text('approved_hash'),
    offeredTools: jsonb('offered_tools').$type<McpToolDefinition[]>(),
    offeredHash: text('offered_hash'),
    checkedAt: time('checked_at'),
    lastError: jsonb('last_error').$type<Failure>(),
    createdAt: time('created_at').notNull().defaultNow(),
    updatedAt: time('updated_at').notNull().defaultNow(),
  },
  (table) => [
    unique('vitto_mcp_servers_name').on(table.userId, table.name),
    check('vitto_mcp_servers_offered', sql`(offered_tools is null) = (offered_hash is null)`),
  ],
);

/** Skills of a user: the text of SKILL.md here, the other files of the folder beside it. */
export const skills = pgTable(
  'vitto_skills',
  {
    id: uuid('id').primaryKey(),
    userId: uuid('user_id').notNull(),
    name: text('name').notNull(),
    description: text('description').notNull(),
    license: text('license'),
    text: text('text').notNull(),
    isEnabled: boolean('is_enabled').notNull().default(true),
    createdAt: time('created_at').notNull().defaultNow(),
    updatedAt: time('updated_at').notNull().defaultNow(),
  },
  (table) => [unique('vitto_skills_name').on(table.userId, table.name)],
);

export const skillFiles = pgTable(
  'vitto_skill_files',
  {
    skillId: uuid('skill_id')
      .notNull()
      .references(() => skills.id, { onDelete: 'cascade' }),
    path: text('path').notNull(),
    content: bytes('content').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.skillId, table.path] }),
    index('vitto_skill_files_skill').on(table.skillId),
  ],
);
