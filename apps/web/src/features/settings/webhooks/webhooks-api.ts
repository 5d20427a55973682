import {
  createdWebhook,
  webhook,
  webhookDelivery,
  webhookTest,
  type createWebhook as newWebhook,
  type updateWebhook as webhookChange,
  type Webhook,
  type WebhookDelivery,
  type WebhookTest,
} from '@vitto/contracts';
import { queryOptions } from '@tanstack/react-query';
import { z } from 'zod';
import type { ApiClient } from '../../../api/client.ts';

export type CreatedWebhook = z.infer<typeof createdWebhook>;
const webhookList = z.object({ items: z.array(webhook) });
const deliveryList = z.object({ items: z.array(webhookDelivery) });
const path = (id: string) => `/webhooks/${encodeURIComponent(id)}`;

export function webhooksQuery(client: ApiClient) {
  return queryOptions({
    queryKey: ['webhooks'],
    queryFn: () => client.send({ path: '/webhooks', schema: webhookList }),
  });
}

export function deliveriesQuery(client: ApiClient, id: string) {
  return queryOptions({
    queryKey: ['webhook-deliveries', id],
    queryFn: () => client.send({ path: `${path(id)}/deliveries`, schema: deliveryList }),
  });
}

export function createWebhook(
  client: ApiClient,
  body: z.input<typeof newWebhook>,
  idempotencyKey: string,
): Promise<CreatedWebhook> {
  return client.send({ method: 'POST', path: '/webhooks', body, idempotencyKey, schema: createdWebhook });
}

export function changeWebhook(
  client: ApiClient,
  id: string,
  body: z.infer<typeof webhookChange>,
): Promise<Webhook> {
  return client.send({ method: 'PATCH', path: path(id), body, schema: webhook });
}

export async function deleteWebhook(client: ApiClient, id: string): Promise<void> {
  await client.send({ method: 'DELETE', path: path(id), schema: z.unknown() });
}

export function testWebhook(client: ApiClient, id: string): Promise<WebhookTest> {
  return client.send({ method: 'POST', path: `${path(id)}/test`, body: {}, schema: webhookTest });
}

export function retryDelivery(
  client: ApiClient,
  { webhookId, id }: WebhookDelivery,
): Promise<WebhookDelivery> {
  return client.send({
    method: 'POST',
    path: `${path(webhookId)}/deliveries/${encodeURIComponent(id)}/retry`,
    body: {},
    schema: webhookDelivery,
  });
}
