import { toTitle } from '../../kernel/text/cut.ts';
import { createRun, readLastPosition, sendMessage, type RunDependencies } from '../../runs/index.ts';
import { frameConversation } from './frame-conversation.ts';
import type { ReadMessages } from './read-messages.ts';

export interface StartedChat {
  taskId: string;
  conversationId: string;
  /** The answer is in the events after this position. */
  after: number;
  /** The task was at work before this request. */
  isJoining: boolean;
}

/**
 * Starts the task that answers a request: in a conversation of its own, which begins with all that the request holds,
 * or as the next message of one that exists, which gets the last message alone.
 * @throws AppError `conversation.not-found`, and what the runs refuse.
 */
export async function startChat(
  runs: RunDependencies,
  request: {
    userId: string;
    messages: ReadMessages;
    model: string | undefined;
    conversationId: string | null;
  },
): Promise<StartedChat> {
  const { userId, messages, model, conversationId } = request;
  const after = await readLastPosition(runs.database.pool, userId);
  const by = { userId, source: 'openai', model };
  if (conversationId === null) {
    const title = toTitle(messages.prompt);
    const sent = await createRun(runs, { ...by, text: frameConversation(messages), title });
    return { taskId: sent.taskId, conversationId: sent.conversationId, after, isJoining: false };
  }
  const text = frameConversation({ instructions: [], earlier: [], prompt: messages.prompt });
  const sent = await sendMessage(runs, { ...by, text, conversationId });
  return { taskId: sent.taskId, conversationId, after, isJoining: sent.outcome === 'steered' };
}
