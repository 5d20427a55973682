export { NOTICES_SEALED } from './sealed-tables.ts';
export { Notices, type NoticesDependencies } from './notices.ts';
export { deletePushSubscription, listPushSubscriptions } from './push-subscription.store.ts';
export { deleteWebhook, listDeliveries, listWebhooks, updateWebhook } from './webhook.store.ts';
