import { NOTICE_EVENTS, type EventEnvelope } from '@vitto/contracts';
import type { Sql } from '../kernel/database/database.ts';
import type { NoticedEvent } from './notice-event.ts';

/** Events that a reader of the journal may want, those of push included. */
const READ_TYPES = [...NOTICE_EVENTS, 'tool.called'];
const PAGE = 500;

const SELECT = `select e.position::float8 as position, e.task_id as "taskId", e.seq, e.type, e.at, e.payload,
    e.conversation_id as "conversationId", t.title, t.depth
  from vitto_task_events e join vitto_tasks t on t.id = e.task_id`;
type Row = Omit<EventEnvelope, 'at'> & { at: Date } & Omit<NoticedEvent, 'event'>;

function toNoticed({ conversationId, title, depth, at, ...event }: Row): NoticedEvent {
  return { event: { ...event, at: at.toISOString() }, conversationId, title, depth };
}

/** The next events after a position, and up to where the journal has been read by that. */
export async function readNoticed(
  sql: Sql,
  userId: string,
  after: number,
): Promise<{ events: NoticedEvent[]; isWhole: boolean; through: number }> {
  const last = await sql.query(
    'select coalesce(max(position), 0)::float8 as position from vitto_journal_positions where user_id = $1',
    [userId],
  );
  const end = (last.rows[0] as { position: number }).position;
  const result = await sql.query(
    `${SELECT}
     where e.user_id = $1 and e.position > $2 and e.position <= $3 and e.type = any($4)
       and (e.type <> 'tool.called' or e.payload->>'tool' = 'whistle_user')
     order by e.position limit ${PAGE}`,
    [userId, after, end, READ_TYPES],
  );
  const events = (result.rows as Row[]).map(toNoticed);
  const isWhole = events.length < PAGE;
  return { events, isWhole, through: isWhole ? end : (events.at(-1)?.event.position ?? end) };
}

/** The event that a browser is told of; `null` when its task is gone. */
export async function readNoticedEvent(
  sql: Sql,
  userId: string,
  taskId: string,
  seq: number,
): Promise<NoticedEvent | null> {
  const result = await sql.query(`${SELECT} where e.task_id = $1 and e.seq = $2 and e.user_id = $3`, [
    taskId,
    seq,
    userId,
  ]);
  const row = result.rows[0] as Row | undefined;
  return row === undefined ? null : toNoticed(row);
}
