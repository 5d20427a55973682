import {
  acquireLease,
  appendEvents,
  describeResults,
  endTask,
  listSubVittos,
  lockChain,
  lockTask,
  MAX_DEATHS,
  openArtifacts,
  readTasksInOrder,
  releaseReservations,
  takePlace,
  type TaskRecord,
  voidApprovals,
} from '../engine/index.ts';
import { isEndState, type Failure, type NewEvent } from '@vitto/contracts';
import { inTransaction } from '../kernel/database/transaction.ts';
import type { SqlClient } from '../kernel/database/database.ts';
import { newId } from '../kernel/ids.ts';
import { cancelRun } from './cancel-run.ts';
import type { EndDependencies } from './run-dependencies.ts';
import { letGo } from './sub-vittos/let-go.ts';
import { readUnansweredCall, type UnansweredCall } from './unanswered-call.ts';

/**
 * Makes this worker the owner of a task and journals that it runs. A task whose workers died too often is failed
 * instead: it never takes the queue down.
 * @returns the task as it is now owned; `null` when it is not to be had: somebody else runs it, it has ended, or it is a
 *   sub-Vitto without a place among those of its user.
 */
export async function takeTask(
  runs: EndDependencies,
  taskId: string,
  workerId: string,
): Promise<TaskRecord | null> {
  const taken = await inTransaction(runs.database, async (client) => {
    if (!(await takePlace(client, taskId, runs.maxSubVittos))) return null;
    const lease = await acquireLease(client, taskId, workerId);
    if (lease === null) return null;
    const lost = lease.lostOwner ? await settleLost(client, taskId) : null;
    const owner = { taskId, fence: lease.fence };
    if (lease.lostOwner && lease.deaths >= MAX_DEATHS) return { isPoison: true, owner } as const;
    const events = [started(workerId, lease, lost?.turn ?? null)];
    if (lease.fence === 1) events.push(...(await readNeededResults(client, taskId)));
    await appendEvents(client, { ...owner, events });
    return { isPoison: false, task: await lockTask(client, taskId) } as const;
  });
  if (taken === null) return null;
  if (!taken.isPoison) return taken.task;
  await failPoison(runs, taken.owner);
  return null;
}

/** Only here are rows above the task written: a sub-Vitto that begins does not wait for what its siblings write there. */
async function settleLost(client: SqlClient, taskId: string): Promise<UnansweredCall> {
  await lockChain(client, taskId);
  const lost = await readUnansweredCall(client, taskId);
  await releaseReservations(client, taskId, lost.inputTokens, lost.costNano);
  return lost;
}

const POISON: Failure = {
  code: 'task.poison',
  message: `The process that ran this task ended ${MAX_DEATHS} times while it ran it. It is not tried again.`,
  hint: 'Its journal is kept: look at its last steps. Send a message to its conversation to start anew.',
};

/** What it has deployed is ended first: when this process dies in between, the next one does all of it again. */
async function failPoison(runs: EndDependencies, owner: { taskId: string; fence: number }): Promise<void> {
  const { taskId } = owner;
  for (const child of await listSubVittos(runs.database.pool, taskId)) {
    if (isEndState(child.state)) continue;
    const { userId } = child;
    await cancelRun(runs, {
      userId,
      taskId: child.id,
      by: 'vitto',
      reason: 'the task that deployed it failed',
    });
  }
  await inTransaction(runs.database, async (client) => {
    await lockChain(client, taskId);
    const voided = await voidApprovals(client, taskId, 'the task has ended');
    const failed: NewEvent = { type: 'task.failed', payload: { error: POISON } };
    await appendEvents(client, { ...owner, events: [...voided, failed] });
    await endTask(client, { ...owner, seq: null }, { state: 'failed', error: POISON });
    await letGo(runs, client, taskId, 'ended');
  });
}

/** The results that a sub-Vitto waited for, as the first thing that it is told after its task. */
async function readNeededResults(client: SqlClient, taskId: string): Promise<NewEvent[]> {
  const task = await lockTask(client, taskId);
  if (task === null || task.dependsOn.length === 0) return [];
  const needed = await readTasksInOrder(client, task.dependsOn);
  const artifacts = openArtifacts(client, { userId: task.userId, taskId });
  const { text, untrusted } = await describeResults(needed, artifacts);
  return [
    {
      type: 'user.message',
      payload: {
        messageId: newId(),
        text: `What the sub-Vittos found whose results you need:\n\n${text}`,
        source: 'deploy_agents',
        ...(untrusted === undefined ? {} : { untrusted }),
      },
    },
  ];
}

function started(
  worker: string,
  lease: { fence: number; lostOwner: boolean },
  discardedTurn: number | null,
): NewEvent {
  if (lease.fence === 1) return { type: 'task.started', payload: { worker, fence: lease.fence } };
  const reason = lease.lostOwner ? 'its worker was lost' : 'woken';
  return { type: 'task.resumed', payload: { worker, fence: lease.fence, reason, discardedTurn } };
}
