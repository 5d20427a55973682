import type { SearchHit } from '@vitto/contracts';
import type { Sql } from '../../kernel/database/database.ts';
import { isReplaced } from './conversation.store.ts';
import { toSearchWords } from './search-words.ts';

/** Written like this in the index too. */
const WORDS_OF_EVENT =
  "to_tsvector('simple'::regconfig, left(coalesce(e.payload->>'text', e.payload->>'result', ''), 100000))";
/** Of more events with these words, the newest are ranked. */
const MAX_RANKED = 500;
/** In `ts_headline`'s answer, where a match begins and ends; no text holds them. */
const START = '\u0002';
const STOP = '\u0003';
const headline = (text: string, options: string) =>
  `ts_headline('simple'::regconfig, translate(left(${text}, 100000), '${START}${STOP}', ''), words.query, 'StartSel=${START}, StopSel=${STOP}, ${options}')`;

interface HitRow {
  conversationId: string;
  title: string;
  taskId: string | null;
  kind: SearchHit['kind'];
  marked: string;
  position: number | null;
  at: Date;
}

/**
 * Finds a user's conversations by their titles, by what was written in them, and by what tasks resulted in. All words
 * must be there, the last may be a beginning; what has no words (an emoji) is looked for in titles. Best first: titles
 * before texts, and the newer the better. What an edit replaced is not found: the conversation does not show it.
 */
export async function searchConversations(
  sql: Sql,
  userId: string,
  text: string,
  limit: number,
): Promise<SearchHit[]> {
  const result = await sql.query(SEARCH, [
    userId,
    toSearchWords(text),
    toLikePattern(text),
    MAX_RANKED,
    limit,
  ]);
  return (result.rows as HitRow[]).map(({ marked, at, ...hit }) => {
    const literal = hit.kind === 'title' ? markLiteral(hit.title, text) : null;
    return { ...hit, at: at.toISOString(), excerpt: literal ?? readMarked(marked) };
  });
}

/** $1 user, $2 tsquery, $3 pattern, $4 how many are ranked, $5 how many are given. */
export const SEARCH = `
  with words as (select to_tsquery('simple'::regconfig, $2) as query),
  found as materialized (
    select e.task_id, e.seq, e.position, e.at from vitto_task_events e, words
    where e.type in ('user.message', 'task.completed') and ${WORDS_OF_EVENT} @@ words.query
      and e.user_id = $1 and e.conversation_id is not null),
  newest as (select * from found order by position desc limit $4),
  hits as (
    select e.conversation_id as "conversationId", c.title, e.task_id as "taskId",
      case e.type when 'user.message' then 'message' else 'result' end as kind,
      coalesce(e.payload->>'text', e.payload->>'result', '') as text, e.position::float8 as position, e.at,
      ts_rank(${WORDS_OF_EVENT}, words.query, 1) as rank
    from newest join vitto_task_events e using (task_id, seq) join vitto_conversations c on c.id = e.conversation_id, words
    where not ${isReplaced('e')}
    union all
    select c.id, c.title, null, 'title', c.title, null, c.updated_at, 1
    from vitto_conversations c, words
    where c.user_id = $1 and (c.title ilike $3 or to_tsvector('simple'::regconfig, c.title) @@ words.query)),
  best as (
    select *, rank / (1 + extract(epoch from clock_timestamp() - at) / 2592000) as score from hits
    order by score desc, at desc limit $5)
  select "conversationId", title, "taskId", kind, position, at,
    case kind when 'title' then ${headline('text', 'HighlightAll=true')}
      else ${headline('text', 'MaxFragments=2, MinWords=6, MaxWords=24, FragmentDelimiter=" … "')} end as marked
  from best, words order by score desc, at desc`;

/** A pattern that finds exactly this text, anywhere. */
function toLikePattern(text: string): string {
  return `%${text.replaceAll(/[\\%_]/gu, (sign) => `\\${sign}`)}%`;
}

/** Parts of a marked text, in order; none of them empty. */
function readMarked(marked: string): SearchHit['excerpt'] {
  return marked.split(START).flatMap((piece, index) => {
    const end = index === 0 ? -1 : piece.indexOf(STOP);
    const match = { text: piece.slice(0, Math.max(0, end)), isMatch: true };
    const rest = { text: piece.slice(end + 1), isMatch: false };
    return [match, rest].filter((part) => part.text !== '');
  });
}

/** A title with the place marked that reads as it was typed; `null` when none does. */
function markLiteral(title: string, wanted: string): SearchHit['excerpt'] | null {
  const start = title.toLowerCase().indexOf(wanted.toLowerCase());
  const end = start + wanted.length;
  // Lower case may have another length; then nothing is marked rather than the wrong part.
  if (start < 0 || title.slice(start, end).toLowerCase() !== wanted.toLowerCase()) return null;
  return [
    { text: title.slice(0, start), isMatch: false },
    { text: title.slice(start, end), isMatch: true },
    { text: title.slice(end), isMatch: false },
  ].filter((part) => part.text !== '');
}
