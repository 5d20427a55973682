import { z } from 'zod';

/** How Vitto reaches people and programs that are not looking: webhooks and Web Push. */

const id = z.uuid();
const time = z.iso.datetime({ offset: true });

/** What may be told outside: the journal's own event types. */
export const NOTICE_EVENTS = [
  'task.completed',
  'task.failed',
  'task.cancelled',
  'task.parked',
  'approval.requested',
  'approval.decided',
  'budget.exceeded',
] as const;
export const noticeEvent = z.enum(NOTICE_EVENTS);
export type NoticeEvent = z.infer<typeof noticeEvent>;

export const webhook = z.object({
  id,
  url: z.string(),
  description: z.string(),
  events: z.array(noticeEvent),
  isEnabled: z.boolean(),
  /** Why Vitto switched it off: too many deliveries in a row failed. */
  disabledReason: z.string().nullable(),
  createdAt: time,
  updatedAt: time,
});
export type Webhook = z.infer<typeof webhook>;
/** The secret that signs deliveries (Standard Webhooks, `whsec_…`) is shown once. */
export const createdWebhook = webhook.extend({ secret: z.string() });
/** Addresses are shown and logged as they are: a password has no place in them, and deliveries are signed. */
const webhookUrl = z
  .url({ protocol: /^https?$/ })
  .max(2000)
  .refine((url) => !/^https?:\/*[^/?#]*@/i.test(url), 'an address holds no user and no password');
export const createWebhook = z.strictObject({
  url: webhookUrl,
  description: z.string().max(200).default(''),
  events: z.array(noticeEvent).min(1),
});
export const updateWebhook = z.strictObject({
  url: webhookUrl.optional(),
  description: z.string().max(200).optional(),
  events: z.array(noticeEvent).min(1).optional(),
  isEnabled: z.boolean().optional(),
});

export const webhookDelivery = z.object({
  id,
  webhookId: id,
  event: z.string(),
  state: z.enum(['pending', 'delivered', 'failed']),
  attempts: z.number().int(),
  lastStatus: z.number().int().nullable(),
  lastError: z.string().nullable(),
  createdAt: time,
  deliveredAt: time.nullable(),
});
export type WebhookDelivery = z.infer<typeof webhookDelivery>;

/** What a receiver said to a message that was sent just to see. */
export const webhookTest = z.object({
  isOk: z.boolean(),
  status: z.number().int().nullable(),
  error: z.string().nullable(),
  durationMs: z.number(),
});
export type WebhookTest = z.infer<typeof webhookTest>;

/** What is sent: thin, so that a receiver asks the API for the rest. */
export const webhookBody = z.object({
  /** The event type. */
  type: z.string(),
  timestamp: time,
  data: z.looseObject({ taskId: id, conversationId: id.nullable(), position: z.number().int() }),
});

/** A browser's push subscription, as `PushSubscription.toJSON()` gives it. */
export const createPushSubscription = z.object({
  endpoint: z.url({ protocol: /^https$/ }).max(2000),
  expirationTime: z.number().nullable().optional(),
  keys: z.object({ p256dh: z.string().min(1).max(200), auth: z.string().min(1).max(100) }),
});
export const pushSubscription = z.object({
  id,
  /** The push service, by its host. */
  service: z.string(),
  browser: z.string(),
  createdAt: time,
  lastSentAt: time.nullable(),
});
export type PushSubscription = z.infer<typeof pushSubscription>;
/** What a browser needs to subscribe (the VAPID public key), and who has. */
export const pushSetup = z.object({ publicKey: z.string(), items: z.array(pushSubscription) });
