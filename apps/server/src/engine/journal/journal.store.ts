import type { eventEnvelope } from '@vitto/contracts';
import { type EventEnvelope, type NewEvent } from '@vitto/contracts';
import { sqlState, type Sql } from '../../kernel/database/database.ts';
import { maskSecrets } from '../../kernel/text/mask-secrets.ts';
import { mapStrings, toStorableText } from '../../kernel/text/storable.ts';

/** Money in billionths of a dollar. */
export interface Settlement {
  reservedTokens: number;
  reservedCost: number;
  tokens: number;
  /** `null`: the model has no price. */
  cost: number | null;
}
export interface Reservation {
  tokens: number;
  cost: number;
  /** The day in the user's zone, `YYYY-MM-DD`, and what may be spent on it. */
  day: string;
  dailyLimit: number | null;
}
export interface BudgetRefusal {
  budget: 'iterations' | 'tokens' | 'cost' | 'duration';
  limit: number;
  spent: number;
  ofTaskId: string;
}

export interface AppendRequest {
  taskId: string;
  /** The owner's fencing number; `null` for a writer that is not the owner (a short list of types). */
  fence: number | null;
  events: NewEvent[];
  settle?: Settlement | null;
  reserve?: Reservation | null;
  /** Written after `events` unless the reservation is refused. */
  then?: NewEvent[];
  iteration?: number | null;
}
/** Events as they are stored, and their JSON: made once, however long they wait for their write. */
export interface StoredEvents {
  list: NewEvent[];
  json: string;
}
export const NO_EVENTS: StoredEvents = { list: [], json: '[]' };

export interface Appended {
  firstSeq: number;
  lastPosition: number | null;
  refusal: BudgetRefusal | null;
  /** The events as they were stored: secrets masked, NUL and lone surrogates replaced. */
  events: NewEvent[];
  then: NewEvent[];
}

/** The writer is no longer the owner of the task: it was cancelled, or another worker took it over. It must stop. */
export class LostLease extends Error {
  constructor(taskId: string) {
    super(`task ${taskId} has another owner now`);
    this.name = 'LostLease';
  }
}

const APPEND = {
  name: 'vitto-append',
  text: 'select first_seq, last_position::float8, refusal from vitto_append($1, $2, $3, $4, $5, $6, $7)',
};

/**
 * Appends to a task's journal in one round trip and one transaction: numbers, fence, budget and events together.
 * Within a caller's transaction the caller has locked task rows first (the task, then its ancestors).
 * @throws LostLease when `fence` is not the task's current one.
 */
export function appendEvents(sql: Sql, request: AppendRequest): Promise<Appended> {
  return appendStored(sql, {
    ...request,
    events: toStored(request.events),
    then: toStored(request.then ?? []),
  });
}

/** `appendEvents` for events that are in stored form already. */
export async function appendStored(
  sql: Sql,
  request: Omit<AppendRequest, 'events' | 'then'> & { events: StoredEvents; then: StoredEvents },
): Promise<Appended> {
  const { events, then } = request;
  try {
    const result = await sql.query({
      ...APPEND,
      values: [
        request.taskId,
        request.fence,
        events.json,
        request.settle ? JSON.stringify(request.settle) : null,
        request.reserve ? JSON.stringify(request.reserve) : null,
        then.json,
        request.iteration ?? null,
      ],
    });
    const row = result.rows[0] as {
      first_seq: number;
      last_position: number | null;
      refusal: BudgetRefusal | null;
    };
    return {
      firstSeq: row.first_seq,
      lastPosition: row.last_position,
      refusal: row.refusal,
      events: events.list,
      then: row.refusal === null ? then.list : [],
    };
  } catch (error) {
    if (sqlState(error) === 'VT001') throw new LostLease(request.taskId);
    throw error;
  }
}

/** Events with secrets masked, NUL and lone surrogates replaced. */
export function toStored(events: NewEvent[]): StoredEvents {
  if (events.length === 0) return NO_EVENTS;
  // On the values, never on their JSON: there a line break is a letter, and a mask could eat a quote.
  const list = mapStrings(events, toShown) as NewEvent[];
  return { list, json: JSON.stringify(list) };
}

/** A text as it may be stored and shown: secrets masked, NUL and half characters replaced. */
export function toShown(text: string): string {
  return maskSecrets(toStorableText(text));
}

/** Two lists as one, without serialising anything again. */
export function joinStored(a: StoredEvents, b: StoredEvents): StoredEvents {
  if (a.list.length === 0) return b;
  if (b.list.length === 0) return a;
  return { list: [...a.list, ...b.list], json: `${a.json.slice(0, -1)},${b.json.slice(1)}` };
}

const COLUMNS = 'task_id, seq, position::float8 as position, type, payload, at';
interface EventRow {
  task_id: string;
  seq: number;
  position: number;
  type: string;
  payload: Record<string, unknown>;
  at: Date;
}
function toEnvelope(row: EventRow): EventEnvelope {
  return {
    position: row.position,
    taskId: row.task_id,
    seq: row.seq,
    type: row.type,
    at: row.at.toISOString(),
    payload: row.payload,
  } satisfies typeof eventEnvelope._output;
}
async function readRows(sql: Sql, text: string, values: unknown[]): Promise<EventEnvelope[]> {
  const result = await sql.query(text, values);
  return (result.rows as EventRow[]).map(toEnvelope);
}

/** Events of one task after `seq`, oldest first. The caller has checked whose task it is. */
export function readTaskEvents(
  sql: Sql,
  taskId: string,
  afterSeq: number,
  limit: number,
): Promise<EventEnvelope[]> {
  return readRows(
    sql,
    `select ${COLUMNS} from vitto_task_events where task_id = $1 and seq > $2 order by seq limit $3`,
    [taskId, afterSeq, limit],
  );
}

/**
 * Events of one of a user's tasks after a journal position, oldest first. Within a task, positions grow with seq (both
 * are given under the task's lock), so the seq to go on from is found by halving: no index by task and position has
 * to be kept for it.
 */
export function readTaskEventsAfterPosition(
  sql: Sql,
  userId: string,
  taskId: string,
  after: number,
  limit: number,
): Promise<EventEnvelope[]> {
  return readRows(
    sql,
    `with recursive search as (
       select 0 as low, seq as high from vitto_tasks where id = $1 and user_id = $2
       union all
       select case when e.position <= $3 then half.seq else low end, case when e.position <= $3 then high else half.seq - 1 end
       from (select low, high, (low + high + 1) / 2 as seq from search where low < high) as half
       join vitto_task_events e on e.task_id = $1 and e.seq = half.seq)
     select ${COLUMNS} from vitto_task_events
     where task_id = $1 and user_id = $2 and position > $3 and seq > (select max(low) from search)
     order by seq limit $4`,
    [taskId, userId, after, limit],
  );
}

/** All events of a user after a position, oldest first. */
export function readUserEvents(
  sql: Sql,
  userId: string,
  after: number,
  limit: number,
): Promise<EventEnvelope[]> {
  return readRows(
    sql,
    `select ${COLUMNS} from vitto_task_events where user_id = $1 and position > $2 order by position limit $3`,
    [userId, after, limit],
  );
}

/** The last position given to a user's events; 0 before the first. */
export async function readLastPosition(sql: Sql, userId: string): Promise<number> {
  const result = await sql.query(
    'select position::float8 as position from vitto_journal_positions where user_id = $1',
    [userId],
  );
  return (result.rows[0] as { position: number } | undefined)?.position ?? 0;
}

/** What the partial indexes leave out: an index serves only what says the same. */
const DELTAS = "('agent.text', 'agent.reasoning', 'tool.progress')";
/** What stands only for a moment: deltas, and where sub-Vittos were at. */
const LASTING = `type not in ${DELTAS} and type <> 'subvitto.progress'`;

/**
 * A conversation's events before a position, newest page first, returned oldest first, without the deltas of
 * turns and calls (each turn and call stands whole in its own event).
 */
export async function readConversationEvents(
  sql: Sql,
  userId: string,
  conversationId: string,
  before: number | null,
  limit: number,
): Promise<EventEnvelope[]> {
  const rows = await readRows(
    sql,
    `select ${COLUMNS} from vitto_task_events
     where conversation_id = $1 and user_id = $2 and position < $3 and ${LASTING}
     order by position desc limit $4`,
    [conversationId, userId, before ?? Number.MAX_SAFE_INTEGER, limit],
  );
  return rows.reverse();
}

/**
 * Steps of one of a user's tasks (its events without the deltas) beside a seq: after it oldest first (`asc`), or
 * before it newest first (`desc`), none of them beyond `lastPosition`.
 */
export function readTaskSteps(
  sql: Sql,
  task: { userId: string; taskId: string; lastPosition: number },
  page: { cursor: number | null; order: 'asc' | 'desc'; limit: number },
): Promise<EventEnvelope[]> {
  const side = page.order === 'asc' ? '>' : '<';
  const edge = page.order === 'asc' ? 0 : MAX_SEQ;
  return readRows(
    sql,
    `select ${COLUMNS} from vitto_task_events
     where task_id = $1 and user_id = $2 and position <= $3 and ${LASTING} and seq ${side} $4
     order by seq ${page.order} limit $5`,
    [task.taskId, task.userId, task.lastPosition, Math.min(page.cursor ?? edge, MAX_SEQ), page.limit],
  );
}
/** No journal of a task is longer: the column's largest number. */
const MAX_SEQ = 2_147_483_647;

/**
 * What stands right now: the deltas of a task after its last completed turn, and where each sub-Vitto of its last round
 * is at.
 */
export function readLiveDeltas(sql: Sql, userId: string, taskId: string): Promise<EventEnvelope[]> {
  return readRows(
    sql,
    `select ${COLUMNS} from vitto_task_events
     where task_id = $1 and user_id = $2 and type in ${DELTAS} and seq > coalesce(
       (select max(seq) from vitto_task_events where task_id = $1 and type in ('agent.turn_completed', 'task.resumed')), 0)
     union all
     select ${COLUMNS} from (
       select distinct on (payload->>'id') * from vitto_task_events
       where task_id = $1 and user_id = $2 and type = 'subvitto.progress' and seq > coalesce(
         (select max(seq) from vitto_task_events where task_id = $1 and type = 'orchestrator.round'), 0)
       order by payload->>'id', seq desc) as standing
     order by seq`,
    [taskId, userId],
  );
}

/**
 * Of the sub-Vittos of a task that have not ended: who each is, and what those that wait for the user ask. A person sees
 * that beside the task, whose own journal has none of it.
 */
export function readAskingBelow(sql: Sql, userId: string, rootId: string): Promise<EventEnvelope[]> {
  return readRows(
    sql,
    `select ${COLUMNS} from vitto_task_events e where task_id in (
       select id from vitto_tasks where root_id = $1 and user_id = $2 and parent_id is not null
         and state not in ('completed', 'failed', 'cancelled'))
     and (type = 'task.created'
       or (type = 'approval.requested' and exists (select 1 from vitto_approvals a where a.id = (e.payload->>'approvalId')::uuid and a.state = 'pending'))
       or (type = 'task.parked' and payload->>'state' in ('waiting_input', 'waiting_approval') and seq > coalesce(
         (select max(seq) from vitto_task_events where task_id = e.task_id and type in ('task.resumed', 'task.queued', 'task.started')), 0)))
     order by position`,
    [rootId, userId],
  );
}

/** The types that make a model's context: everything else is for people's eyes. */
const CONTEXT_TYPES =
  "('user.message', 'task.created', 'gate.evaluated', 'vm.acquired', 'vm.released', 'vm.lost', 'vm.degraded', 'task.parked', 'task.resumed', 'task.stuck', 'task.completed', 'task.failed', 'task.cancelled', 'phase.completed', 'agent.iteration', 'agent.turn_completed', 'tool.starting', 'tool.called', 'approval.requested', 'approval.decided', 'budget.exceeded', 'orchestrator.round', 'subvitto.completed', 'subvitto.failed')";

/** What a model's context is folded from: all tasks of the conversation up to now, oldest first, from a position on. */
export function readContextEvents(
  sql: Sql,
  conversationId: string,
  after: number,
  limit: number,
): Promise<EventEnvelope[]> {
  return readRows(
    sql,
    `select ${COLUMNS} from vitto_task_events
     where conversation_id = $1 and position > $2 and type not in ${DELTAS} and type in ${CONTEXT_TYPES}
     order by position limit $3`,
    [conversationId, after, limit],
  );
}

/** What the state of one task is folded from: all its own events but deltas, oldest first, after a seq. */
export function readStateEvents(
  sql: Sql,
  taskId: string,
  afterSeq: number,
  limit: number,
): Promise<EventEnvelope[]> {
  return readRows(
    sql,
    `select ${COLUMNS} from vitto_task_events where task_id = $1 and seq > $2 and type in ${CONTEXT_TYPES} order by seq limit $3`,
    [taskId, afterSeq, limit],
  );
}

/** The position up to which the newest compaction's summary stands in for a conversation; 0 without one. */
export async function readCompactedThrough(sql: Sql, conversationId: string): Promise<number> {
  const result = await sql.query(
    `select (payload->>'throughPosition')::float8 as position from vitto_task_events
     where conversation_id = $1 and type = 'phase.completed' and payload->>'phase' = 'compaction'
       and payload->>'throughPosition' is not null
       and type not in ${DELTAS} order by position desc limit 1`,
    [conversationId],
  );
  return (result.rows[0] as { position: number } | undefined)?.position ?? 0;
}
