import { deleteConversation, findConversation } from '../engine/index.ts';
import { notFound } from '../kernel/app-error.ts';
import { cancelRun } from './cancel-run.ts';
import type { RunDependencies } from './run-dependencies.ts';

/**
 * Deletes a conversation with all of its tasks, events and artifacts. What still runs in it is cancelled first, so
 * that no worker goes on with something that is gone; what became of its tasks is kept, without a word of it.
 * @throws AppError `conversation.not-found`.
 */
export async function removeConversation(
  deps: RunDependencies,
  request: { userId: string; conversationId: string; by: string },
): Promise<void> {
  const found = await findConversation(deps.database.pool, request.userId, request.conversationId);
  if (found === null) throw notFound('conversation');
  if (found.activeTaskId !== null) {
    await cancelRun(deps, { ...request, taskId: found.activeTaskId, reason: 'its conversation was deleted' });
  }
  // A task that has only just ended may not have been reported: once it is deleted there is nothing to report from.
  await deps.outcomes.detachConversation(request.conversationId);
  if (!(await deleteConversation(deps.database.pool, request.userId, request.conversationId))) {
    throw notFound('conversation');
  }
}
