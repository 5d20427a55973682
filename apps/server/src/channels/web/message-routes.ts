import {
  conversationEventPage,
  conversationEventQuery,
  message,
  page,
  pageQuery,
  sendMessage as sendMessageBody,
  sentMessage,
} from '@vitto/contracts';
import { notFound } from '../../kernel/app-error.ts';
import { findConversation, listMessages, sendMessage, type RunDependencies } from '../../runs/index.ts';
import { readConversationHistory } from './conversation-history.ts';
import { readNumberCursor, toPage, writeNumberCursor } from './page-cursor.ts';
import { idParams, viewerOf, type WebApp } from './web-app.ts';

export function addMessageRoutes(app: WebApp, runs: RunDependencies): void {
  const sql = runs.database.pool;
  const tags = ['conversations'];

  app.get(
    '/api/conversations/:id/messages',
    {
      schema: {
        tags,
        summary: 'What was asked and answered in a conversation, newest first',
        params: idParams,
        querystring: pageQuery,
        response: { 200: page(message) },
      },
    },
    async (request) => {
      const { userId } = viewerOf(request);
      const { cursor, limit } = request.query;
      const before = readNumberCursor(cursor);
      if ((await findConversation(sql, userId, request.params.id)) === null) throw notFound('conversation');
      const rows = await listMessages(sql, userId, request.params.id, before, limit + 1);
      return toPage(rows, limit, (last) => writeNumberCursor(last.position));
    },
  );

  app.post(
    '/api/conversations/:id/messages',
    {
      config: {
        audit: {
          action: 'message.sent',
          object: 'conversation',
          detail: (_, answer) => ({ task: String(answer['taskId']), outcome: String(answer['outcome']) }),
        },
      },
      schema: {
        tags,
        summary: 'Send a message: it starts a task, steers the one that runs, or answers its question',
        params: idParams,
        body: sendMessageBody,
        response: { 202: sentMessage },
      },
    },
    async (request, reply) => {
      const { userId, source } = viewerOf(request);
      const sent = await sendMessage(runs, {
        ...request.body,
        userId,
        source,
        conversationId: request.params.id,
        budget: request.body.budget as Parameters<typeof sendMessage>[1]['budget'],
      });
      return reply.code(202).send(sent);
    },
  );

  app.get(
    '/api/conversations/:id/events',
    {
      schema: {
        tags,
        summary: 'The events of a conversation, a page at a time from the newest back',
        description:
          'Oldest first within a page. Deltas of finished turns are left out; the newest page ends with the deltas of what is being written now. ' +
          'Open `/api/events` with `Last-Event-ID: lastPosition` to go on without a gap or a repeat.',
        params: idParams,
        querystring: conversationEventQuery,
        response: { 200: conversationEventPage },
      },
    },
    async (request) => {
      const { userId } = viewerOf(request);
      const history = await readConversationHistory(sql, userId, request.params.id, request.query);
      if (history === null) throw notFound('conversation');
      return history;
    },
  );
}
