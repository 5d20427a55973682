import { conversation, createConversation, page, pageQuery, updateConversation } from '@vitto/contracts';
import { notFound } from '../../kernel/app-error.ts';
import { newId } from '../../kernel/ids.ts';
import {
  findConversation,
  insertConversation,
  listConversations,
  removeConversation,
  updateConversation as changeConversation,
  type RunDependencies,
  keepKnownPaths,
} from '../../runs/index.ts';
import { readCursor, toPage, writeCursor } from './page-cursor.ts';
import { changedFields } from './route-audit.ts';
import { idParams, nothing, viewerOf, type WebApp } from './web-app.ts';

export function addConversationRoutes(app: WebApp, runs: RunDependencies): void {
  const sql = runs.database.pool;
  const tags = ['conversations'];

  app.get(
    '/api/conversations',
    {
      schema: {
        tags,
        summary: 'My conversations, most recently used first',
        querystring: pageQuery,
        response: { 200: page(conversation) },
      },
    },
    async (request) => {
      const { cursor, limit } = request.query;
      const rows = await listConversations(sql, viewerOf(request).userId, readCursor(cursor), limit + 1);
      return toPage(rows, limit, (last) => writeCursor({ at: last.updatedAt, id: last.id }));
    },
  );

  app.post(
    '/api/conversations',
    {
      config: { audit: { action: 'conversation.created', object: 'conversation' } },
      schema: {
        tags,
        summary: 'Begin a conversation',
        body: createConversation,
        response: { 201: conversation },
      },
    },
    async (request, reply) => {
      const { userId } = viewerOf(request);
      const id = newId();
      const allowedPaths = await runs.resolveAllowedPaths(request.body.allowedPaths ?? [], userId);
      await insertConversation(sql, { id, userId, title: request.body.title ?? '', allowedPaths });
      return reply.code(201).send(await needConversation(userId, id));
    },
  );

  app.get(
    '/api/conversations/:id',
    { schema: { tags, summary: 'One conversation', params: idParams, response: { 200: conversation } } },
    (request) => needConversation(viewerOf(request).userId, request.params.id),
  );

  app.patch(
    '/api/conversations/:id',
    {
      config: { audit: { action: 'conversation.changed', object: 'conversation', detail: changedFields } },
      schema: {
        tags,
        summary: 'Rename a conversation, or change the folders it may read',
        params: idParams,
        body: updateConversation,
        response: { 200: conversation },
      },
    },
    async (request) => {
      const { userId } = viewerOf(request);
      const { title, allowedPaths } = request.body;
      const { allowedPaths: known } = await needConversation(userId, request.params.id);
      const paths =
        allowedPaths === undefined ? undefined : await keepKnownPaths(runs, allowedPaths, known, userId);
      await changeConversation(sql, userId, request.params.id, { title, allowedPaths: paths });
      return needConversation(userId, request.params.id);
    },
  );

  app.delete(
    '/api/conversations/:id',
    {
      config: { audit: { action: 'conversation.deleted', object: 'conversation' } },
      schema: {
        tags,
        summary: 'Delete a conversation with its tasks, events and artifacts; what runs in it is cancelled',
        params: idParams,
        response: { 204: nothing },
      },
    },
    async (request, reply) => {
      const { userId, source } = viewerOf(request);
      await removeConversation(runs, { userId, conversationId: request.params.id, by: source });
      return reply.code(204).send(undefined);
    },
  );

  const needConversation = async (userId: string, id: string) => {
    const found = await findConversation(sql, userId, id);
    if (found === null) throw notFound('conversation');
    return found;
  };
}
