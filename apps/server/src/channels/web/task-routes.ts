import {
  createTask,
  END_STATES,
  page,
  sendMessage as sendMessageBody,
  sentMessage,
  task,
  TASK_STATES,
  taskQuery,
  type TaskState,
} from '@vitto/contracts';
import { z } from 'zod';
import { notFound } from '../../kernel/app-error.ts';
import {
  cancelRun,
  createRun,
  findTask,
  listTasks,
  steerRun,
  toTask,
  type RunDependencies,
} from '../../runs/index.ts';
import { readCursor, toPage, writeCursor } from './page-cursor.ts';
import { idParams, viewerOf, type WebApp } from './web-app.ts';

/** A task that runs already keeps its model and its budget. */
const steerTask = sendMessageBody.pick({ text: true, answers: true, attachments: true }).strict();
const cancelTask = z.strictObject({ reason: z.string().max(500).optional() }).nullish();

export function addTaskRoutes(app: WebApp, runs: RunDependencies): void {
  const sql = runs.database.pool;
  const tags = ['tasks'];

  app.get(
    '/api/tasks',
    {
      schema: {
        tags,
        summary:
          'My tasks, newest first; `state=active` for those that have not ended, `rootId` for a task and all below it',
        querystring: taskQuery,
        response: { 200: page(task) },
      },
    },
    async (request) => {
      const { cursor, limit, state, conversationId, rootId } = request.query;
      const rows = await listTasks(sql, viewerOf(request).userId, {
        states: toStates(state),
        conversationId: conversationId ?? null,
        rootId: rootId ?? null,
        before: readCursor(cursor),
        limit: limit + 1,
      });
      return toPage(rows.map(toTask), limit, (last) => writeCursor({ at: last.createdAt, id: last.id }));
    },
  );

  app.post(
    '/api/tasks',
    {
      config: { audit: { action: 'task.started', object: 'task' } },
      schema: {
        tags,
        summary: 'Start a task in a conversation of its own',
        body: createTask,
        response: { 201: task },
      },
    },
    async (request, reply) => {
      const { userId, source } = viewerOf(request);
      const { prompt, budget, ...rest } = request.body;
      const started = await createRun(runs, {
        ...rest,
        userId,
        source,
        text: prompt,
        budget: budget as Parameters<typeof createRun>[1]['budget'],
      });
      return reply.code(201).send(await needTask(userId, started.taskId));
    },
  );

  app.get(
    '/api/tasks/:id',
    { schema: { tags, summary: 'One task', params: idParams, response: { 200: task } } },
    (request) => needTask(viewerOf(request).userId, request.params.id),
  );

  app.post(
    '/api/tasks/:id/cancel',
    {
      config: { audit: { action: 'task.cancelled', object: 'task' } },
      schema: {
        tags,
        summary: 'Cancel a task and its children; cancelling an ended one changes nothing',
        params: idParams,
        body: cancelTask,
        response: { 200: task },
      },
    },
    (request) => {
      const { userId, source } = viewerOf(request);
      return cancelRun(runs, {
        userId,
        taskId: request.params.id,
        by: source,
        reason: request.body?.reason,
      });
    },
  );

  app.post(
    '/api/tasks/:id/messages',
    {
      config: {
        audit: {
          action: 'task.steered',
          object: 'task',
          detail: (_, answer) => ({ outcome: String(answer['outcome']) }),
        },
      },
      schema: {
        tags,
        summary: 'Steer a task that has not ended, or answer its question',
        params: idParams,
        body: steerTask,
        response: { 202: sentMessage },
      },
    },
    async (request, reply) => {
      const { userId, source } = viewerOf(request);
      const sent = await steerRun(runs, { ...request.body, userId, source, taskId: request.params.id });
      return reply.code(202).send(sent);
    },
  );

  const needTask = async (userId: string, id: string) => {
    const found = await findTask(sql, userId, id);
    if (found === null) throw notFound('task');
    return toTask(found);
  };
}

export function toStates(state: TaskState | 'active' | undefined): TaskState[] | null {
  if (state === undefined) return null;
  if (state !== 'active') return [state];
  const ended: readonly TaskState[] = END_STATES;
  return TASK_STATES.filter((known) => !ended.includes(known));
}
