import { toTitle } from '../../kernel/text/cut.ts';
import { maskSecrets } from '../../kernel/text/mask-secrets.ts';
import {
  createRun,
  openArtifacts,
  readLastPosition,
  sendMessage,
  type RunDependencies,
} from '../../runs/index.ts';
import { frameConversation } from './frame-conversation.ts';
import type { SentImage } from './read-image.ts';
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
    const text = frameConversation(messages);
    const attachments = await keepImages(runs, userId, [...messages.earlierImages, ...messages.images]);
    const sent = await createRun(runs, {
      ...by,
      text,
      attachments,
      title: toTitle(maskSecrets(messages.prompt)),
    });
    return { taskId: sent.taskId, conversationId: sent.conversationId, after, isJoining: false };
  }
  const text = frameConversation({ ...messages, instructions: [], earlier: [] });
  const attachments = await keepImages(runs, userId, messages.images);
  const sent = await sendMessage(runs, { ...by, text, attachments, conversationId });
  return { taskId: sent.taskId, conversationId, after, isJoining: sent.outcome === 'steered' };
}

/** Images as files that wait for the message they come with. */
async function keepImages(runs: RunDependencies, userId: string, images: SentImage[]): Promise<string[]> {
  const artifacts = openArtifacts(runs.database.pool, { userId, taskId: null });
  const ids: string[] = [];
  for (const { name, mediaType, bytes } of images) {
    ids.push((await artifacts.save(name, mediaType, bytes)).id);
  }
  return ids;
}
