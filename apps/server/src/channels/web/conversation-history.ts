import type { ConversationEventPage, EventEnvelope } from '@vitto/contracts';
import {
  findConversation,
  readAskingBelow,
  readConversationEvents,
  readLastPosition,
  readLiveDeltas,
  type RunDependencies,
} from '../../runs/index.ts';

type Sql = RunDependencies['database']['pool'];

/**
 * A page of a conversation's events, and the position from which the stream continues it.
 *
 * The position is read first, and nothing after it is in the page: positions are given out in the order of commits, so
 * all that lies up to it is in the tables by then, and all that comes later comes by the stream. The page and the
 * stream meet without a gap and without a repeat however much is written between the two requests.
 * @returns `null` when the user has no such conversation.
 */
export async function readConversationHistory(
  sql: Sql,
  userId: string,
  conversationId: string,
  query: { before?: number | undefined; limit: number },
): Promise<ConversationEventPage | null> {
  const lastPosition = await readLastPosition(sql, userId);
  const conversation = await findConversation(sql, userId, conversationId);
  if (conversation === null) return null;

  const before = Math.min(query.before ?? Number.MAX_SAFE_INTEGER, lastPosition + 1);
  const events = await readConversationEvents(sql, userId, conversationId, before, query.limit + 1);
  const isMore = events.length > query.limit;
  if (isMore) events.shift();
  const isNewest = query.before === undefined;
  const { activeTaskId } = conversation;
  const live =
    isNewest && activeTaskId !== null
      ? (
          await Promise.all([
            readLiveDeltas(sql, userId, activeTaskId),
            readAskingBelow(sql, userId, activeTaskId),
          ])
        ).flat()
      : [];
  const items = mergeByPosition(
    events,
    live.filter((event) => event.position <= lastPosition),
  );
  return { items, lastPosition, nextBefore: isMore ? (events[0]?.position ?? null) : null };
}

function mergeByPosition(left: EventEnvelope[], right: EventEnvelope[]): EventEnvelope[] {
  if (right.length === 0) return left;
  return [...left, ...right].sort((a, b) => a.position - b.position);
}
