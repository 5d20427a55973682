import {
  createdWebhook,
  createWebhook,
  updateWebhook as webhookChange,
  webhook,
  webhookDelivery,
  webhookTest,
} from '@vitto/contracts';
import { z } from 'zod';
import { idParams, nothing, viewerOf, type WebApp } from '../../channels/index.ts';
import type { Database } from '../../kernel/database/database.ts';
import {
  deleteWebhook,
  listDeliveries,
  listWebhooks,
  updateWebhook,
  type Notices,
} from '../../notices/index.ts';

const DELIVERIES = 50;

/** Webhooks out: who is told of what happens, and what became of it. */
export function addWebhookRoutes(app: WebApp, deps: { database: Database; notices: Notices }): void {
  const { database, notices } = deps;
  const sql = database.pool;
  const tags = ['webhooks'];

  app.get(
    '/api/webhooks',
    { schema: { tags, summary: 'My webhooks', response: { 200: z.object({ items: z.array(webhook) }) } } },
    async (request) => ({ items: await listWebhooks(sql, viewerOf(request).userId) }),
  );

  app.post(
    '/api/webhooks',
    {
      config: { isAnswerSecret: true, audit: { action: 'webhook.created', object: 'webhook' } },
      schema: {
        tags,
        summary: 'Tell a URL of events; the secret that signs deliveries is shown once',
        body: createWebhook,
        response: { 201: createdWebhook },
      },
    },
    async (request, reply) => {
      const made = await notices.webhooks.create(viewerOf(request).userId, request.body);
      await notices.refresh();
      return reply.code(201).send(made);
    },
  );

  app.patch(
    '/api/webhooks/:id',
    {
      config: { audit: { action: 'webhook.changed', object: 'webhook' } },
      schema: {
        tags,
        summary: 'Change a webhook; one that is switched on again begins with what happens then',
        params: idParams,
        body: webhookChange,
        response: { 200: webhook },
      },
    },
    async (request) => {
      const changed = await updateWebhook(sql, viewerOf(request).userId, request.params.id, request.body);
      await notices.refresh();
      return changed;
    },
  );

  app.delete(
    '/api/webhooks/:id',
    {
      config: { audit: { action: 'webhook.deleted', object: 'webhook' } },
      schema: { tags, summary: 'Delete a webhook', params: idParams, response: { 204: nothing } },
    },
    async (request, reply) => {
      await deleteWebhook(sql, viewerOf(request).userId, request.params.id);
      return reply.code(204).send(undefined);
    },
  );

  app.post(
    '/api/webhooks/:id/test',
    {
      config: { audit: { action: 'webhook.tested', object: 'webhook' } },
      schema: {
        tags,
        summary: 'Send a signed message of type `webhook.test` now',
        params: idParams,
        body: z.strictObject({}).nullish(),
        response: { 200: webhookTest },
      },
    },
    (request) => notices.webhooks.test(viewerOf(request).userId, request.params.id),
  );

  app.get(
    '/api/webhooks/:id/deliveries',
    {
      schema: {
        tags,
        summary: `The last ${DELIVERIES} deliveries of a webhook`,
        params: idParams,
        response: { 200: z.object({ items: z.array(webhookDelivery) }) },
      },
    },
    async (request) => ({
      items: await listDeliveries(sql, viewerOf(request).userId, request.params.id, DELIVERIES),
    }),
  );

  app.post(
    '/api/webhooks/:id/deliveries/:deliveryId/retry',
    {
      config: { audit: { action: 'webhook.delivery-retried', object: 'webhook' } },
      schema: {
        tags,
        summary: 'Try a delivery again that was given up',
        params: idParams.extend({ deliveryId: z.uuid() }),
        body: z.strictObject({}).nullish(),
        response: { 202: webhookDelivery },
      },
    },
    async (request, reply) => {
      const { id, deliveryId } = request.params;
      return reply.code(202).send(await notices.webhooks.retry(viewerOf(request).userId, id, deliveryId));
    },
  );
}
