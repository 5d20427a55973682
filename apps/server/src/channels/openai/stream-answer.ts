import type { FastifyReply } from 'fastify';
import { AppError, describeError } from '../../kernel/app-error.ts';
import { toChunk, toUsageChunk } from './chat-format.ts';
import { toVittoField, type ChatTurn } from './chat-turn.ts';
import { followAnswer } from './follow-answer.ts';
import { toOpenAiError } from './openai-error.ts';
import { SseWriter } from './sse-writer.ts';
import { ClientGone } from './watch-client.ts';

/**
 * Answers with chunks as they come. What goes wrong before the first of them is thrown; afterwards it is sent as an
 * error event, and the stream ends without `[DONE]`.
 */
export async function streamAnswer(reply: FastifyReply, turn: ChatTurn): Promise<FastifyReply> {
  const { keepAliveMs } = turn.deps;
  const writer = new SseWriter(reply, keepAliveMs);
  try {
    await sendChunks(writer, turn);
  } catch (error) {
    if (error instanceof ClientGone || !writer.isOpen) throw error;
    await writer.send(toErrorEvent(turn, error));
  } finally {
    writer.close();
  }
  return reply;
}

async function sendChunks(writer: SseWriter, turn: ChatTurn): Promise<void> {
  const { deps, viewer, started, signal, head, body } = turn;
  const { userId, credential } = viewer;
  const hasUsage = body.stream_options?.include_usage === true;
  let isFirst = true;
  const begin = async () => {
    if (!isFirst) return;
    isFirst = false;
    await writer.send(toChunk(head, { role: 'assistant', content: '' }, { isLast: false, hasUsage }));
  };
  const onText = async (content: string) => {
    await begin();
    await writer.send(toChunk(head, { content }, { isLast: false, hasUsage }));
  };
  const followed = { ...deps, userId, credential, started, signal, isLive: true, onText };
  const { answer, state } = await followAnswer(followed);
  await begin();
  const last = toChunk(head, {}, { isLast: true, hasUsage });
  await writer.send({ ...last, vitto: toVittoField(turn, state) });
  if (hasUsage) await writer.send(toUsageChunk(head, answer.usage));
  await writer.send('[DONE]');
}

function toErrorEvent({ deps, started }: ChatTurn, error: unknown): unknown {
  const { body } = toOpenAiError(deps.toProblem(error));
  if (!(error instanceof AppError)) {
    deps.runs.logger.error(
      { err: error, taskId: started.taskId },
      `an answer broke off: ${describeError(error)}`,
    );
  }
  return { ...body, vitto: { task_id: started.taskId, conversation_id: started.conversationId } };
}
