import { findTask, lockTask } from '../engine/index.ts';
import type { SentMessage } from '@vitto/contracts';
import { isEndState } from '@vitto/contracts';
import { inTransaction } from '../kernel/database/transaction.ts';
import { AppError, notFound } from '../kernel/app-error.ts';
import type { RunDependencies } from './run-dependencies.ts';
import { deliverToTask } from './start-run.ts';

/**
 * Hands a message to a task by its id.
 * @throws AppError `task.not-found`; `task.ended` when there is nobody to read it; `attachment.not-found`.
 */
export async function steerRun(
  deps: RunDependencies,
  request: {
    userId: string;
    taskId: string;
    text: string;
    source: string;
    /** A task wrote it that has read text from outside. */
    isTainted?: boolean | undefined;
    attachments?: string[] | undefined;
  },
): Promise<SentMessage> {
  const sent = await inTransaction(deps.database, async (client) => {
    if ((await findTask(client, request.userId, request.taskId)) === null) throw notFound('task');
    const task = await lockTask(client, request.taskId);
    if (task === null) throw notFound('task');
    if (isEndState(task.state)) {
      throw new AppError('task.ended', `This task has ended (${task.state}).`, {
        status: 409,
        hint:
          task.parentId === null
            ? 'Send the message to its conversation: it starts a new task there.'
            : 'It was a sub-Vitto: write to the conversation that it worked for.',
      });
    }
    return deliverToTask(deps, client, task, request);
  });
  deps.signals.journalGrew(request.userId);
  return sent;
}
