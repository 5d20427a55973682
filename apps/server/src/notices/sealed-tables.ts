import type { SealedTable } from '../identity/index.ts';
import { subscriptionOf } from './push-sender.ts';
import { PUSH_KEY_OF } from './push-subscription.store.ts';
import { webhookOf } from './webhook-sender.ts';

/** All that this feature keeps sealed. */
export const NOTICES_SEALED: readonly SealedTable[] = [
  {
    table: 'vitto_webhooks',
    column: 'sealed_secret',
    key: ['id'],
    more: ['user_id'],
    placeOf: ({ id = '', user_id = '' }) => webhookOf(id, user_id),
  },
  {
    table: 'vitto_push_subscriptions',
    column: 'sealed_keys',
    key: ['id'],
    more: ['endpoint'],
    placeOf: ({ endpoint = '' }) => subscriptionOf(endpoint),
  },
  { table: 'vitto_push_keys', column: 'sealed_private_key', key: ['id'], placeOf: () => PUSH_KEY_OF },
];
