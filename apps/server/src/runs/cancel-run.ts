import type { Sql, SqlClient } from '../kernel/database/database.ts';
import {
  appendEvents,
  endTask,
  findTask,
  lockTask,
  LostLease,
  releaseReservations,
  seizeLease,
  toTask,
  voidApprovals,
} from '../engine/index.ts';
import type { NewEvent, Task } from '@vitto/contracts';
import { releaseHeldVm } from './held-vm.ts';
import { readUnansweredCall } from './unanswered-call.ts';
import { inTransaction } from '../kernel/database/transaction.ts';
import { notFound } from '../kernel/app-error.ts';
import type { EndDependencies } from './run-dependencies.ts';
import { letGo } from './sub-vittos/let-go.ts';

/**
 * Cancels a task and its children at once: the journal ends with `task.cancelled` in the same transaction that shuts
 * the owner out; the owner is told and stops its stream and its processes. Cancelling twice does nothing more.
 * @throws AppError `task.not-found`.
 */
export async function cancelRun(
  deps: EndDependencies,
  request: { userId: string; taskId: string; by: string; reason?: string | undefined },
): Promise<Task> {
  const known = await findTask(deps.database.pool, request.userId, request.taskId);
  if (known === null) throw notFound('task');
  let cancelled: string[] | null = null;
  while (cancelled === null) {
    cancelled = await inTransaction(deps.database, (client) => cancelTree(deps, client, request));
  }
  for (const id of cancelled) await deps.signals.taskSeized(id);
  deps.signals.journalGrew(request.userId);
  const task = await findTask(deps.database.pool, request.userId, request.taskId);
  if (task === null) throw notFound('task');
  return toTask(task);
}

/**
 * Every transaction locks in the same order: task rows from the children up to the root, then days, then the user's
 * journal position. So each step is done for all tasks before the next.
 * @returns the ids of what was cancelled; `null` when a child came in before the rows were locked: once more then.
 */
async function cancelTree(
  deps: EndDependencies,
  client: SqlClient,
  request: { taskId: string; by: string; reason?: string | undefined },
): Promise<string[] | null> {
  const locked = await lockTree(client, request.taskId);
  const open = await findOpenDescendants(client, request.taskId);
  if (open.some((id) => !locked.has(id))) return null;
  const seized: SeizedTask[] = [];
  for (const id of open) seized.push(await seizeTask(client, id));
  for (const task of seized) await endCancelled(deps, client, task, request.by, request.reason);
  return open;
}

/** Locks what is open under a task, the task itself, and all the rows above that their budgets draw on. */
async function lockTree(sql: Sql, taskId: string): Promise<Set<string>> {
  const result = await sql.query(
    `with recursive tree as (
       select id, parent_id, state from vitto_tasks where id = $1
       union all
       select t.id, t.parent_id, t.state from vitto_tasks t join tree on t.parent_id = tree.id),
     chain as (
       select id, parent_id from tree where state not in ('completed', 'failed', 'cancelled')
       union
       select t.id, t.parent_id from vitto_tasks t join chain on t.id = chain.parent_id)
     select id from vitto_tasks where id in (select id from chain) order by depth desc, id for no key update`,
    [taskId],
  );
  return new Set((result.rows as { id: string }[]).map((row) => row.id));
}

/** What has not ended of a task and all below it, children before parents. */
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

interface SeizedTask {
  id: string;
  fence: number;
  approvals: NewEvent[];
}

/** Shuts the owner out and gives back what the task holds. */
async function seizeTask(client: SqlClient, id: string): Promise<SeizedTask> {
  const fence = await seizeLease(client, id, 'cancel');
  const inFlight = await readUnansweredCall(client, id);
  await releaseReservations(client, id, inFlight.inputTokens, inFlight.costNano);
  return { id, fence, approvals: await voidApprovals(client, id, 'the task was cancelled') };
}

async function endCancelled(
  deps: EndDependencies,
  client: SqlClient,
  { id, fence, approvals }: SeizedTask,
  by: string,
  reason: string | undefined,
): Promise<void> {
  // Read once all the children have given back and booked what was theirs.
  const task = await lockTask(client, id);
  if (task === null) throw new LostLease(id);
  const { spending } = toTask(task);
  const events: NewEvent[] = [
    ...approvals,
    ...(await cancelOpenCalls(client, id)),
    ...(await releaseHeldVm(client, id)),
    { type: 'task.cancelled', payload: { by, ...(reason === undefined ? {} : { reason }), spending } },
  ];
  await appendEvents(client, { taskId: id, fence, events });
  await endTask(client, { taskId: id, fence, seq: null }, { state: 'cancelled' });
  await letGo(deps, client, id, 'ended');
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
        ? 'Cancelled while it ran. What it had done until then is not known.'
        : 'Cancelled before it ran.',
      durationMs: 0,
      tier: 'in-process',
    },
  }));
}

interface TurnPayload {
  turn: number;
  message: { content: { type: string; toolCallId: string; toolName: string }[] };
}
