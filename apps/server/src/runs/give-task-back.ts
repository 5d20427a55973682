import { appendEvents, lockTask, releaseReservations, requeueTask } from '../engine/index.ts';
import { inTransaction } from '../kernel/database/transaction.ts';
import type { Database } from '../kernel/database/database.ts';
import { readUnansweredCall } from './unanswered-call.ts';

/** Gives a task that was stopped in the middle of a step back to the queue: another worker, or the next start, goes on. */
export async function giveTaskBack(
  deps: { database: Database; workerId: string },
  taskId: string,
): Promise<void> {
  await inTransaction(deps.database, async (client) => {
    const task = await lockTask(client, taskId);
    if (task?.state !== 'running') return;
    const holder = await client.query('select lease_holder as holder from vitto_tasks where id = $1', [
      taskId,
    ]);
    if ((holder.rows[0] as { holder: string | null }).holder !== deps.workerId) return;
    const owner = { taskId, fence: task.fence };
    const lost = await readUnansweredCall(client, taskId);
    await releaseReservations(client, taskId, lost.inputTokens, lost.costNano);
    await appendEvents(client, {
      ...owner,
      events: [{ type: 'task.queued', payload: { reason: 'shutdown' } }],
    });
    await requeueTask(client, owner);
  });
}
