import type { Conversation, Message } from '@vitto/contracts';
import { toTitle } from '../../kernel/text/cut.ts';
import type { Sql } from '../../kernel/database/database.ts';
import { toShown } from './journal.store.ts';

interface ConversationRow {
  id: string;
  title: string;
  allowedPaths: string[];
  createdAt: Date;
  updatedAt: Date;
  activeTaskId: string | null;
}
const COLUMNS = `c.id, c.title, c.allowed_paths as "allowedPaths", c.created_at as "createdAt", c.updated_at as "updatedAt",
  (select t.id from vitto_tasks t where t.conversation_id = c.id and t.parent_id is null
     and t.state not in ('completed', 'failed', 'cancelled')) as "activeTaskId"`;

function toConversation(row: ConversationRow): Conversation {
  return { ...row, createdAt: row.createdAt.toISOString(), updatedAt: row.updatedAt.toISOString() };
}

export async function insertConversation(
  sql: Sql,
  conversation: { id: string; userId: string; title: string; allowedPaths: string[] },
): Promise<void> {
  await sql.query(
    'insert into vitto_conversations (id, user_id, title, allowed_paths) values ($1, $2, $3, $4)',
    [
      conversation.id,
      conversation.userId,
      toShown(conversation.title),
      JSON.stringify(conversation.allowedPaths),
    ],
  );
}

export async function findConversation(sql: Sql, userId: string, id: string): Promise<Conversation | null> {
  const result = await sql.query(
    `select ${COLUMNS} from vitto_conversations c where c.id = $1 and c.user_id = $2`,
    [id, userId],
  );
  const row = result.rows[0] as ConversationRow | undefined;
  return row === undefined ? null : toConversation(row);
}

/** Locks a user's conversation: messages to it come one after the other. Touches it for the order of the list. */
export async function lockConversation(
  sql: Sql,
  userId: string,
  id: string,
): Promise<{ title: string; allowedPaths: string[] } | null> {
  const result = await sql.query(
    `update vitto_conversations set updated_at = clock_timestamp() where id = $1 and user_id = $2
     returning title, allowed_paths as "allowedPaths"`,
    [id, userId],
  );
  return (result.rows[0] as { title: string; allowedPaths: string[] } | undefined) ?? null;
}

export async function updateConversation(
  sql: Sql,
  userId: string,
  id: string,
  change: { title?: string | undefined; allowedPaths?: string[] | undefined },
): Promise<boolean> {
  const result = await sql.query(
    `update vitto_conversations set title = coalesce($3, title), allowed_paths = coalesce($4::jsonb, allowed_paths),
       updated_at = clock_timestamp() where id = $1 and user_id = $2`,
    [
      id,
      userId,
      change.title === undefined ? null : toShown(change.title),
      change.allowedPaths === undefined ? null : JSON.stringify(change.allowedPaths),
    ],
  );
  return result.rowCount === 1;
}

/** Names a conversation after its first message unless it has a name. */
export async function nameConversation(sql: Sql, id: string, text: string): Promise<void> {
  await sql.query("update vitto_conversations set title = $2 where id = $1 and title = ''", [
    id,
    toTitle(text),
  ]);
}

export async function deleteConversation(sql: Sql, userId: string, id: string): Promise<boolean> {
  const result = await sql.query('delete from vitto_conversations where id = $1 and user_id = $2', [
    id,
    userId,
  ]);
  return result.rowCount === 1;
}

/** A page, most recently used first, after the cursor's (updatedAt, id). */
export async function listConversations(
  sql: Sql,
  userId: string,
  before: { at: string; id: string } | null,
  limit: number,
): Promise<Conversation[]> {
  const result = await sql.query(
    `select ${COLUMNS} from vitto_conversations c
     where c.user_id = $1 and (c.updated_at, c.id) <
       (coalesce($2::timestamptz, 'infinity'), coalesce($3::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
     order by c.updated_at desc, c.id desc limit $4`,
    [userId, before?.at ?? null, before?.id ?? null, limit],
  );
  return (result.rows as ConversationRow[]).map(toConversation);
}

/** Where a message of a conversation stands, and why it can be no message to begin anew from. */
export interface MessagePlace {
  position: number;
  isAnswer: boolean;
  isReplaced: boolean;
}
/** The place of a user's message; `null` when the conversation has none of that id. */
export async function findMessage(
  sql: Sql,
  conversationId: string,
  messageId: string,
): Promise<MessagePlace | null> {
  const result = await sql.query(
    `select e.position::float8 as position, e.payload->>'answers' is not null as "isAnswer",
       ${isReplaced('e')} as "isReplaced"
     from vitto_task_events e
     where e.conversation_id = $1 and e.type = 'user.message' and e.payload->>'messageId' = $2
       and e.type in ('user.message', 'task.completed', 'task.failed')`,
    [conversationId, messageId],
  );
  return (result.rows[0] as MessagePlace | undefined) ?? null;
}

/** True for an event of a conversation that a later message stands in for. */
export const isReplaced = (event: string) => `exists (select 1 from vitto_task_events r
  where r.conversation_id = ${event}.conversation_id and r.type = 'user.message' and r.payload->>'replaces' is not null
    and r.position > ${event}.position and (r.payload->>'replacesPosition')::bigint <= ${event}.position)`;

/**
 * A page of a conversation's messages, newest first, before a journal position: what was asked and what was answered,
 * without what was replaced by an edit.
 */
export async function listMessages(
  sql: Sql,
  userId: string,
  conversationId: string,
  before: number | null,
  limit: number,
): Promise<Message[]> {
  const result = await sql.query(
    `select task_id, seq, position::float8 as position, type, payload, at from vitto_task_events e
     where conversation_id = $1 and user_id = $2 and position < $3
       and type in ('user.message', 'task.completed', 'task.failed') and not ${isReplaced('e')}
     order by position desc limit $4`,
    [conversationId, userId, before ?? Number.MAX_SAFE_INTEGER, limit],
  );
  return (result.rows as MessageRow[]).map(toMessage);
}

interface MessageRow {
  task_id: string;
  seq: number;
  position: number;
  type: string;
  payload: { messageId?: string; text?: string; result?: string; error?: { message?: string } };
  at: Date;
}
function toMessage(row: MessageRow): Message {
  const isUser = row.type === 'user.message';
  return {
    id: row.payload.messageId ?? `${row.task_id}:${row.seq}`,
    taskId: row.task_id,
    role: isUser ? 'user' : 'assistant',
    text: row.payload.text ?? row.payload.result ?? row.payload.error?.message ?? '',
    position: row.position,
    at: row.at.toISOString(),
  };
}
