import {
  appendEvents,
  countOpenTasks,
  findNextSubVittos,
  lockTask,
  readToolsUsed,
  toEndEvent,
  wakeTask,
  type TaskRecord,
} from '../../engine/index.ts';
import type { NewEvent } from '@vitto/contracts';
import { queueOutcome } from '../../intelligence/index.ts';
import type { SqlClient } from '../../kernel/database/database.ts';
import type { EndDependencies } from '../run-dependencies.ts';

/**
 * What follows when a task parks or ends, in the transaction in which it does: what became of it is reported; a sub-Vitto that has ended is told to its
 * parent, which wakes with the last of those it waits for; its place, and what waited for its result, are given to the
 * next. The caller holds the rows of the task and of its ancestors.
 */
export async function letGo(
  deps: Pick<EndDependencies, 'queue' | 'maxSubVittos'>,
  client: SqlClient,
  taskId: string,
  change: 'parked' | 'ended',
): Promise<void> {
  if (change === 'ended') await queueOutcome(deps.queue, client, taskId);
  const task = await lockTask(client, taskId);
  if (task?.kind !== 'subvitto') return;
  if (change === 'ended') await tellParent(deps, client, task);
  for (const id of await findNextSubVittos(client, task.userId, deps.maxSubVittos)) {
    await deps.queue.wake(id, client);
  }
}

async function tellParent(
  deps: Pick<EndDependencies, 'queue'>,
  client: SqlClient,
  child: TaskRecord,
): Promise<void> {
  const parent = child.parentId === null ? null : await lockTask(client, child.parentId);
  if (parent === null) return;
  const events: NewEvent[] = [toEndEvent(child, await readToolsUsed(client, child.id))];
  const { waitingFor } = parent;
  const isWoken =
    waitingFor?.kind === 'children' &&
    (await countOpenTasks(client, waitingFor.childIds)) === 0 &&
    (await wakeTask(client, parent.id));
  if (isWoken) events.push({ type: 'task.queued', payload: { reason: 'children' } });
  await appendEvents(client, { taskId: parent.id, fence: null, events });
  // A parent that is a sub-Vitto itself takes its place in the line.
  if (isWoken && parent.kind !== 'subvitto') await deps.queue.wake(parent.id, client);
}
