import type { SqlClient } from '../kernel/database/database.ts';
import {
  appendEvents,
  estimateTask,
  insertConversation,
  insertTask,
  lockActiveTask,
  lockConversation,
  nameConversation,
  taskCreated,
  type NewTask,
  type TaskRecord,
  voidApprovals,
  wakeTask,
} from '../engine/index.ts';
import type { EventPayload, NewEvent, SentMessage } from '@vitto/contracts';
import { inTransaction } from '../kernel/database/transaction.ts';
import { notFound } from '../kernel/app-error.ts';
import { newId } from '../kernel/ids.ts';
import { toTitle } from '../kernel/text/cut.ts';
import { toStorableText } from '../kernel/text/storable.ts';
import { maskSecrets } from '../kernel/text/mask-secrets.ts';
import { chooseBudget } from './choose-budget.ts';
import { conversationBusy, findReplaced } from './find-replaced.ts';
import type { RunDependencies } from './run-dependencies.ts';
import { takeAttachments } from './take-attachments.ts';

export interface MessageRequest {
  userId: string;
  conversationId: string;
  text: string;
  /** A name for the task that it starts; without one the beginning of the text is. */
  title?: string | undefined;
  /** Where it came from: `web`, `cli`, `api`, `mcp`, `openai`. */
  source: string;
  model?: string | undefined;
  budget?: Partial<NewTask['budget']> | undefined;
  /** Files that were uploaded before. */
  attachments?: string[] | undefined;
  /** The image that its VM must be made from. */
  template?: string | undefined;
  /** Its commands may run in the process sandbox where no VM can be had and the installation does not forbid it: the user is not asked. */
  mayDegrade?: boolean | undefined;
  /** Edit and retry: the message that this one stands in for; only while nothing runs in the conversation. */
  replaces?: string | undefined;
}

/**
 * Takes a user's message: it steers the conversation's task when one has not ended, answers its question when it
 * waits for one, and else starts a task. Two messages at once are taken one after the other.
 * @throws AppError `conversation.not-found`, `attachment.not-found`, why a message cannot be replaced (409), or what the
 *   budget or model list is refused for.
 */
export async function sendMessage(deps: RunDependencies, request: MessageRequest): Promise<SentMessage> {
  const plan = await planRun(deps, request);
  const sent = await inTransaction(deps.database, (client) => takeMessage(deps, client, request, plan));
  deps.signals.journalGrew(request.userId);
  return sent;
}

/** Makes a conversation of its own for a task and starts it: for programs and one-shot commands. */
export async function createRun(
  deps: RunDependencies,
  request: Omit<MessageRequest, 'conversationId'> & { allowedPaths?: string[] | undefined },
): Promise<SentMessage & { conversationId: string }> {
  const plan = await planRun(deps, request);
  const allowedPaths = await deps.resolveAllowedPaths(request.allowedPaths ?? [], request.userId);
  const conversationId = newId();
  const { userId } = request;
  const title = request.title === undefined ? toTitle(storable(request.text)) : storable(request.title);
  const sent = await inTransaction(deps.database, async (client) => {
    await insertConversation(client, { id: conversationId, userId, title, allowedPaths });
    return takeMessage(deps, client, { ...request, conversationId }, plan);
  });
  deps.signals.journalGrew(userId);
  return { ...sent, conversationId };
}

type RunPlan = Pick<NewTask, 'budget' | 'model' | 'allowedPaths'>;

/** What a task would run with; what is wrong is refused before anything is written. */
async function planRun(
  deps: RunDependencies,
  request: Pick<MessageRequest, 'userId' | 'model' | 'budget'>,
): Promise<RunPlan> {
  const settings = await deps.readSettings(request.userId);
  const budget = chooseBudget(deps.rootBudget, settings.budget, request.budget ?? {});
  const model = request.model ?? null;
  const named = model ?? settings.models.main ?? null;
  await deps.checkModels(named, { userId: request.userId, needsPrice: budget.maxCostUsd !== null });
  return { budget, model, allowedPaths: settings.allowedPaths };
}

async function takeMessage(
  deps: RunDependencies,
  client: SqlClient,
  request: MessageRequest,
  plan: RunPlan,
): Promise<SentMessage> {
  const conversation = await lockConversation(client, request.userId, request.conversationId);
  if (conversation === null) throw notFound('conversation');
  const active = await lockActiveTask(client, request.conversationId);
  if (active !== null) {
    if (request.replaces !== undefined) throw conversationBusy();
    return deliverToTask(deps, client, active, request);
  }
  await nameConversation(client, request.conversationId, storable(request.text));
  const allowedPaths = [...new Set([...conversation.allowedPaths, ...plan.allowedPaths])];
  return startTask(deps, client, request, { ...plan, allowedPaths });
}

/** Hands a message to a task that has not ended; the caller holds the task's row. */
export async function deliverToTask(
  deps: RunDependencies,
  client: SqlClient,
  task: TaskRecord,
  request: Pick<MessageRequest, 'userId' | 'text' | 'source' | 'attachments'> & {
    isTainted?: boolean | undefined;
  },
): Promise<SentMessage> {
  const messageId = newId();
  const owner = { userId: request.userId, taskId: task.id };
  const attachments = await takeAttachments(client, owner, request.attachments);
  const answers = task.waitingFor?.kind === 'input' ? task.waitingFor.callId : undefined;
  const message: NewEvent = {
    type: 'user.message',
    payload: {
      messageId,
      text: request.text,
      source: request.source,
      ...(answers === undefined ? {} : { answers }),
      ...(request.isTainted === true ? { tainted: true } : {}),
      ...(attachments.length === 0 ? {} : { attachments }),
    },
  };
  // A person who writes instead of deciding has changed their mind: nothing that was asked runs on an old yes.
  const voided = await voidApprovals(client, task.id, 'the user wrote a message instead');
  const wakes = (await wakeTask(client, task.id)) ? [queued('input')] : [];
  await appendEvents(client, { taskId: task.id, fence: null, events: [...voided, message, ...wakes] });
  if (wakes.length > 0) await deps.queue.wake(task.id, client);
  return { messageId, taskId: task.id, outcome: task.waitingFor?.kind === 'input' ? 'answered' : 'steered' };
}

async function startTask(
  deps: RunDependencies,
  client: SqlClient,
  request: MessageRequest,
  options: RunPlan,
): Promise<SentMessage> {
  const id = newId();
  const messageId = newId();
  const task: NewTask = {
    id,
    userId: request.userId,
    parentId: null,
    rootId: id,
    depth: 0,
    kind: 'chat',
    role: null,
    conversationId: request.conversationId,
    title: toTitle(storable(request.title ?? request.text)),
    tier: null,
    ...estimateTask(request.text),
    ...options,
  };
  await insertTask(client, task);
  const message: NewEvent = {
    type: 'user.message',
    payload: {
      messageId,
      text: request.text,
      source: request.source,
      allowedPaths: options.allowedPaths,
      ...(request.mayDegrade === true ? { mayDegrade: true } : {}),
      ...(request.template === undefined ? {} : { template: request.template }),
      ...(await readExtras(client, request, id)),
    },
  };
  await appendEvents(client, {
    taskId: id,
    fence: null,
    events: [taskCreated(task), message, queued('created')],
  });
  await deps.queue.wake(id, client);
  return { messageId, taskId: id, outcome: 'started' };
}

/** The files of a message that starts a task, and the message that it stands in for. */
async function readExtras(
  client: SqlClient,
  request: MessageRequest,
  taskId: string,
): Promise<Pick<EventPayload<'user.message'>, 'attachments' | 'replaces' | 'replacesPosition'>> {
  const { userId, conversationId, replaces } = request;
  const attachments = await takeAttachments(client, { userId, taskId }, request.attachments);
  return {
    ...(attachments.length === 0 ? {} : { attachments }),
    ...(replaces === undefined
      ? {}
      : { replaces, replacesPosition: await findReplaced(client, conversationId, replaces) }),
  };
}

function queued(reason: string): NewEvent {
  return { type: 'task.queued', payload: { reason } };
}

/** Before a text is cut: half of a secret is not known for one any more. */
function storable(text: string): string {
  return maskSecrets(toStorableText(text));
}
