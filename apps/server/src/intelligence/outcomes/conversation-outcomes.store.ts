import type { Sql } from '../../kernel/database/database.ts';

/** The tasks of a conversation ($1) and all below them: a sub-Vitto names no conversation. */
const TREE = `with recursive tree as (
    select id, ended_at from vitto_tasks where conversation_id = $1
    union
    select t.id, t.ended_at from vitto_tasks t join tree on t.parent_id = tree.id)`;

/** What has ended in a conversation and has no outcome, oldest first. */
export async function findUnreportedOf(sql: Sql, conversationId: string): Promise<string[]> {
  const result = await sql.query(
    `${TREE} select id from tree where ended_at is not null
       and not exists (select 1 from vitto_outcomes o where o.task_id = tree.id)
     order by ended_at, id`,
    [conversationId],
  );
  return (result.rows as { id: string }[]).map((row) => row.id);
}

/** Takes the titles off all outcomes of a conversation: they are made of what was said in it. */
export async function clearTitlesOf(sql: Sql, conversationId: string): Promise<void> {
  await sql.query(`${TREE} update vitto_outcomes set title = '' where task_id in (select id from tree)`, [
    conversationId,
  ]);
}
