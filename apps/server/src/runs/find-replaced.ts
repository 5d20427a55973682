import { findMessage, readCompactedThrough } from '../engine/index.ts';
import { AppError } from '../kernel/app-error.ts';
import type { Sql } from '../kernel/database/database.ts';

/**
 * The position of the message that a new one stands in for. The caller holds the conversation's row.
 * @throws AppError `message.not-found`, or a conflict that says why it cannot be replaced (any more).
 */
export async function findReplaced(sql: Sql, conversationId: string, messageId: string): Promise<number> {
  const place = await findMessage(sql, conversationId, messageId);
  if (place === null) {
    throw new AppError('message.not-found', 'There is no such message in this conversation.', {
      status: 422,
      errors: [{ path: 'replaces', message: 'no message of yours in this conversation has this id' }],
    });
  }
  if (place.isAnswer) {
    throw conflict('message.is-answer', 'This message answered a question.', 'Edit the message before it.');
  }
  if (place.isReplaced) {
    const hint = 'Load the conversation anew and edit the message that stands there now.';
    throw conflict('message.replaced', 'This message was replaced already.', hint);
  }
  if (place.position <= (await readCompactedThrough(sql, conversationId))) {
    const hint = 'Edit a newer message, or begin a new conversation with it.';
    throw conflict('message.compacted', 'This message has become part of a summary.', hint);
  }
  return place.position;
}

function conflict(code: string, message: string, hint: string): AppError {
  return new AppError(code, message, { status: 409, hint });
}

/** The refusal of an edit while the conversation's task runs. */
export function conversationBusy(): AppError {
  return conflict(
    'conversation.busy',
    'Something still runs in this conversation.',
    'Stop it first (POST /api/tasks/{activeTaskId}/cancel), or send the message without `replaces` to steer it.',
  );
}
