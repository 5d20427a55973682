import {
  acquireLease,
  appendEvents,
  endTask,
  lockTask,
  MAX_DEATHS,
  releaseReservations,
  type TaskRecord,
  voidApprovals,
} from '../engine/index.ts';
import type { Failure, NewEvent } from '@vitto/contracts';
import { inTransaction } from '../kernel/database/transaction.ts';
import type { Database } from '../kernel/database/database.ts';
import { readUnansweredCall } from './unanswered-call.ts';

/**
 * Makes this worker the owner of a task and journals that it runs. A task whose workers died too often is failed
 * instead: it never takes the queue down.
 * @returns the task as it is now owned; `null` when it is not to be had.
 */
export async function takeTask(
  database: Database,
  taskId: string,
  workerId: string,
): Promise<TaskRecord | null> {
  return inTransaction(database, async (client) => {
    const lease = await acquireLease(client, taskId, workerId);
    if (lease === null) return null;
    const owner = { taskId, fence: lease.fence };
    const lost = lease.lostOwner ? await readUnansweredCall(client, taskId) : null;
    if (lost !== null) await releaseReservations(client, taskId, lost.inputTokens, lost.costNano);
    if (lease.lostOwner && lease.deaths >= MAX_DEATHS) {
      const voided = await voidApprovals(client, taskId, 'the task has ended');
      await appendEvents(client, {
        ...owner,
        events: [...voided, { type: 'task.failed', payload: { error: POISON } }],
      });
      await endTask(client, { ...owner, seq: null }, { state: 'failed', error: POISON });
      return null;
    }
    await appendEvents(client, { ...owner, events: [started(workerId, lease, lost?.turn ?? null)] });
    return lockTask(client, taskId);
  });
}

const POISON: Failure = {
  code: 'task.poison',
  message: `The process that ran this task ended ${MAX_DEATHS} times while it ran it. It is not tried again.`,
  hint: 'Its journal is kept: look at its last steps. Send a message to its conversation to start anew.',
};

function started(
  worker: string,
  lease: { fence: number; lostOwner: boolean },
  discardedTurn: number | null,
): NewEvent {
  if (lease.fence === 1) return { type: 'task.started', payload: { worker, fence: lease.fence } };
  const reason = lease.lostOwner ? 'its worker was lost' : 'woken';
  return { type: 'task.resumed', payload: { worker, fence: lease.fence, reason, discardedTurn } };
}
