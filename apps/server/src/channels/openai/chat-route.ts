import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { AppError } from '../../kernel/app-error.ts';
import { cancelRun } from '../../runs/index.ts';
import type { DoorDependencies } from '../door-dependencies.ts';
import { viewerOf, type WebApp } from '../web/web-app.ts';
import { toCompletion } from './chat-format.ts';
import { CHAT_BODY_LIMIT, chatRequest, type ChatRequest } from './chat-request.ts';
import { toVittoField, type ChatTurn } from './chat-turn.ts';
import { followAnswer } from './follow-answer.ts';
import { chooseModel } from './model-routes.ts';
import { readMessages } from './read-messages.ts';
import { startChat } from './start-chat.ts';
import { streamAnswer } from './stream-answer.ts';
import { refuseUnsupported } from './unsupported.ts';
import { ClientGone, watchClient } from './watch-client.ts';

/** POST /v1/chat/completions: a task that answers as a model would. */
export function addChatRoute(app: WebApp, deps: DoorDependencies): void {
  const config = {
    audit: { none: 'it leaves its entries when the task is started, and cancelled for a client that left' },
  };
  const schema = { hide: true, body: chatRequest };
  app.post('/v1/chat/completions', { bodyLimit: CHAT_BODY_LIMIT, config, schema }, async (request, reply) => {
    const viewer = viewerOf(request);
    const { body } = request;
    refuseUnsupported(body);
    if (body.stream === true && request.headers['idempotency-key'] !== undefined) throw notRepeatable();
    const messages = readMessages(body.messages);
    const model = await chooseModel(deps, viewer.userId, body.model);
    deps.feed.checkRoom();
    const conversationId = readConversationId(request, body);
    const { userId } = viewer;
    const started = await startChat(deps.runs, { userId, messages, model, conversationId });
    await request.recordAudit({ action: 'task.started', object: 'task', objectId: started.taskId });
    const head = {
      id: `chatcmpl-${started.taskId}`,
      created: Math.floor(Date.now() / 1000),
      model: body.model,
    };
    const turn = { deps, viewer, body, started, head, signal: watchClient(reply) };
    // A task that failed is not done better by doing all of it again: clients are told not to try by themselves.
    void reply.headers({
      'x-vitto-task': started.taskId,
      'x-vitto-conversation': started.conversationId,
      'x-should-retry': 'false',
    });
    try {
      return body.stream === true ? await streamAnswer(reply, turn) : await sendWhole(reply, turn);
    } catch (error) {
      if (!(error instanceof ClientGone)) throw toFinal(error);
      await leaveTask(request, turn);
      return reply.hijack();
    }
  });
}

async function sendWhole(reply: FastifyReply, turn: ChatTurn): Promise<FastifyReply> {
  const { deps, viewer, started, signal } = turn;
  const { userId, credential } = viewer;
  let text = '';
  const onText = (more: string) => Promise.resolve(void (text += more));
  const followed = { ...deps, userId, credential, started, signal, isLive: false, onText };
  const { answer, state } = await followAnswer(followed);
  return reply.send(toCompletion(turn.head, text, answer.usage, toVittoField(turn, state)));
}

/** Nobody waits for the answer any more: the task is cancelled unless it was at work before, or is to go on. */
async function leaveTask(request: FastifyRequest, { deps, viewer, started }: ChatTurn): Promise<void> {
  if (started.isJoining || request.headers['x-vitto-background'] === 'true') return;
  const { userId, source } = viewer;
  const { taskId } = started;
  const reason = 'the client closed the connection';
  const { state } = await cancelRun(deps.runs, { userId, taskId, by: source, reason });
  // It may have ended by itself just before.
  if (state !== 'cancelled') return;
  await request.recordAudit({
    action: 'task.cancelled',
    object: 'task',
    objectId: taskId,
    detail: { reason },
  });
}

/** A stream is sent once and kept nowhere. */
function notRepeatable(): AppError {
  return new AppError('openai.unsupported-parameter', 'A streamed answer takes no `Idempotency-Key`.', {
    hint: 'Leave it out, or ask without `stream`.',
    errors: [{ path: 'Idempotency-Key', message: 'not with `stream`' }],
  });
}

/**
 * What goes wrong once the task is started, with a status at which no client does all of it again by itself. (OpenAI's
 * own heeds `x-should-retry`; others go by the status alone.)
 */
function toFinal(error: unknown): unknown {
  if (!(error instanceof AppError) || error.status < 500) return error;
  const { hint } = error;
  return new AppError(error.code, error.message, { status: 422, ...(hint === undefined ? {} : { hint }) });
}

/** @throws AppError `request.invalid` for a name that is no id. */
function readConversationId(request: FastifyRequest, body: ChatRequest): string | null {
  const named = request.headers['x-vitto-conversation'] ?? body.metadata?.conversation_id;
  if (named === undefined) return null;
  const id = z.uuid().safeParse(named);
  if (id.success) return id.data;
  throw new AppError('request.invalid', 'The conversation that is named is no id.', {
    errors: [{ path: 'x-vitto-conversation', message: 'a UUID as an earlier answer has given it' }],
  });
}
