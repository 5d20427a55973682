import type { Sql } from '../kernel/database/database.ts';

/** A model call whose answer will never be read, and what it has cost: the provider charges for its input. */
export interface UnansweredCall {
  turn: number | null;
  inputTokens: number;
  costNano: number;
}

/**
 * The call that was under way when a task lost its owner; zeros when there was none. An owner that parked the task or
 * gave it back has booked its call already.
 */
export async function readUnansweredCall(sql: Sql, taskId: string): Promise<UnansweredCall> {
  const result = await sql.query(
    `select i.payload->'reserved' as reserved, (i.payload->>'turn')::int as turn from vitto_task_events i
     where i.task_id = $1 and i.type = 'agent.iteration'
       and i.seq > coalesce((select max(seq) from vitto_task_events
         where task_id = $1 and type in ('agent.turn_completed', 'task.resumed', 'task.parked', 'task.queued')), 0)
     order by i.seq desc limit 1`,
    [taskId],
  );
  const row = result.rows[0] as
    { turn: number; reserved: { inputTokens: number; inputCostUsd?: number } | null } | undefined;
  return {
    turn: row?.turn ?? null,
    inputTokens: row?.reserved?.inputTokens ?? 0,
    costNano: Math.round((row?.reserved?.inputCostUsd ?? 0) * 1e9),
  };
}
