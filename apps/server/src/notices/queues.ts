/** Deliveries to webhooks and to browsers; each job names a row, and holds nothing of what is told. */
export const WEBHOOK_QUEUE = 'vitto-webhooks';
export const PUSH_QUEUE = 'vitto-push';

export interface WebhookJob {
  deliveryId: string;
}

export interface PushJob {
  subscriptionId: string;
  userId: string;
  taskId: string;
  seq: number;
}
