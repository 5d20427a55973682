import type { Sql } from '../kernel/database/database.ts';
import type { SqlClient } from '../kernel/database/database.ts';
import {
  appendEvents,
  endTask,
  findTask,
  lockTask,
  releaseReservations,
  seizeLease,
  type TaskRecord,
  toTask,
} from '../engine/index.ts';
import type { NewEvent, Task } from '@vitto/contracts';
import { isEndState } from '@vitto/contracts';
import { readUnansweredCall } from './unanswered-call.ts';
import { inTransaction } from '../kernel/database/transaction.ts';
import { notFound } from '../kernel/app-error.ts';
import { voidApprovals } from './decide-approval.ts';
import type { RunDependencies } from './run-dependencies.ts';

/**
 * Cancels a task and its children at once: the journal ends with `task.cancelled` in the same transaction that shuts
 * the owner out; the owner is told and stops its stream and its processes. Cancelling twice does nothing more.
 * @throws AppError `task.not-found`.
 */
export async function cancelRun(
  deps: RunDependencies,
  request: { userId: string; taskId: string; by: string; reason?: string | undefined },
): Promise<Task> {
  const cancelled = await inTransaction(deps.database, async (client) => {
    const known = await findTask(client, request.userId, request.taskId);
    if (known === null) throw notFound('task');
    const ids: string[] = [];
    // Children before parents: the lock order of the whole journal.
    for (const id of await findOpenDescendants(client, request.taskId)) {
      const task = await lockTask(client, id);
      if (task !== null && !isEndState(task.state)) {
        await cancelOne(client, task, request.by, request.reason);
        ids.push(id);
      }
    }
    return ids;
  });
  for (const id of cancelled) await deps.signals.taskSeized(id);
  deps.signals.journalGrew(request.userId);
  const task = await findTask(deps.database.pool, request.userId, request.taskId);
  if (task === null) throw notFound('task');
  return toTask(task);
}

async function findOpenDescendants(sql: Sql, taskId: string): Promise<string[]> {
  const result = await sql.query(
    `with recursive tree as (
       select id, depth, state from vitto_tasks where id = $1
       union all
       select t.id, t.depth, t.state from vitto_tasks t join tree on t.parent_id = tree.id)
     select id from tree where state not in ('completed', 'failed', 'cancelled') order by depth desc, id`,
    [taskId],
  );
  return (result.rows as { id: string }[]).map((row) => row.id);
}

async function cancelOne(
  client: SqlClient,
  task: TaskRecord,
  by: string,
  reason: string | undefined,
): Promise<void> {
  const fence = await seizeLease(client, task.id, 'cancel');
  const inFlight = await readUnansweredCall(client, task.id);
  await releaseReservations(client, task.id, inFlight.inputTokens, inFlight.costNano);
  const now = (await lockTask(client, task.id)) ?? task;
  const events: NewEvent[] = [
    ...(await voidApprovals(client, task.id, 'the task was cancelled')),
    ...(await cancelOpenCalls(client, task.id)),
    {
      type: 'task.cancelled',
      payload: { by, ...(reason === undefined ? {} : { reason }), spending: toTask(now).spending },
    },
  ];
  await appendEvents(client, { taskId: task.id, fence, events });
  await endTask(client, { taskId: task.id, fence, seq: null }, { state: 'cancelled' });
}

/** Calls that have no result yet get one that says `cancelled`, so that the conversation stays whole. */
async function cancelOpenCalls(sql: Sql, taskId: string): Promise<NewEvent[]> {
  const result = await sql.query(
    `select e.type, e.payload from vitto_task_events e where e.task_id = $1
       and e.type in ('agent.turn_completed', 'tool.starting', 'tool.called')
       and e.seq >= coalesce((select max(seq) from vitto_task_events where task_id = $1 and type = 'agent.turn_completed'), 0)
     order by e.seq`,
    [taskId],
  );
  const rows = result.rows as { type: string; payload: Record<string, unknown> }[];
  const done = new Set(rows.filter((row) => row.type === 'tool.called').map((row) => row.payload['callId']));
  const turn = rows.find((row) => row.type === 'agent.turn_completed')?.payload as TurnPayload | undefined;
  const calls = (turn?.message.content ?? []).filter(
    (part) => part.type === 'tool-call' && !done.has(part.toolCallId),
  );
  return calls.map((call) => ({
    type: 'tool.called',
    payload: {
      callId: call.toolCallId,
      turn: turn?.turn ?? 1,
      tool: call.toolName,
      status: 'cancelled',
      text: rows.some((row) => row.type === 'tool.starting' && row.payload['callId'] === call.toolCallId)
        ? 'Cancelled by the user while it ran. What it had done until then is not known.'
        : 'Cancelled by the user before it ran.',
      durationMs: 0,
      tier: 'in-process',
    },
  }));
}

interface TurnPayload {
  turn: number;
  message: { content: { type: string; toolCallId: string; toolName: string }[] };
}
