import { newId } from '../kernel/ids.ts';
import type { Database, Sql, SqlClient } from '../kernel/database/database.ts';
import { inTransaction } from '../kernel/database/transaction.ts';
import type { WakeQueue } from '../kernel/queue.ts';
import type { NoticedEvent } from './notice-event.ts';
import { readNoticed } from './noticed-event.store.ts';
import { isPushed } from './push-message.ts';
import { PUSH_QUEUE, WEBHOOK_QUEUE, type PushJob, type WebhookJob } from './queues.ts';
import { toWebhookBody } from './webhook-body.ts';

/** Users who have anybody to tell. */
export async function listNoticedUsers(sql: Sql): Promise<string[]> {
  const result = await sql.query(
    `select user_id as "userId" from vitto_webhooks where is_enabled
     union select user_id from vitto_push_subscriptions`,
  );
  return (result.rows as { userId: string }[]).map((row) => row.userId);
}

/**
 * Makes a delivery for each event since a webhook's and a browser's last, and moves them on, in one transaction: a
 * process that dies in between has done nothing, two that do it at once do it after each other.
 * @returns true when there is more to read.
 */
export function fanOut(
  deps: { database: Database; queue: Pick<WakeQueue, 'send'> },
  userId: string,
): Promise<boolean> {
  return inTransaction(deps.database, async (client) => {
    const readers = await lockReaders(client, userId);
    const from = Math.min(...readers.map((reader) => reader.position));
    if (readers.length === 0) return false;
    const { events, through, isWhole } = await readNoticed(client, userId, from);
    const behind = readers.filter((reader) => reader.position < through);
    const webhookJobs = await insertDeliveries(client, userId, behind, events);
    await deps.queue.send(WEBHOOK_QUEUE, webhookJobs, client);
    await deps.queue.send(PUSH_QUEUE, toPushJobs(userId, behind, events), client);
    await moveReaders(client, userId, through);
    return !isWhole;
  });
}

interface Reader {
  kind: 'webhook' | 'push';
  id: string;
  position: number;
  events: string[];
}

async function lockReaders(client: SqlClient, userId: string): Promise<Reader[]> {
  const webhooks = await client.query(
    `select 'webhook' as kind, id, position::float8 as position, events from vitto_webhooks
     where user_id = $1 and is_enabled order by id for update`,
    [userId],
  );
  const browsers = await client.query(
    `select 'push' as kind, id, position::float8 as position, '[]'::jsonb as events
     from vitto_push_subscriptions where user_id = $1 order by id for update`,
    [userId],
  );
  return [...(webhooks.rows as Reader[]), ...(browsers.rows as Reader[])];
}

async function insertDeliveries(
  client: SqlClient,
  userId: string,
  readers: Reader[],
  events: NoticedEvent[],
): Promise<WebhookJob[]> {
  const wanted = readers
    .filter((reader) => reader.kind === 'webhook')
    .flatMap((reader) =>
      events
        .filter(({ event }) => event.position > reader.position && reader.events.includes(event.type))
        .map((noticed) => ({ webhookId: reader.id, noticed })),
    );
  if (wanted.length === 0) return [];
  const result = await client.query(
    `insert into vitto_webhook_deliveries (id, webhook_id, user_id, position, event, body)
     select d.id, d.webhook_id, $1, d.position, d.event, d.body
     from unnest($2::uuid[], $3::uuid[], $4::bigint[], $5::text[], $6::json[]) as d(id, webhook_id, position, event, body)
     on conflict (webhook_id, position) do nothing
     returning id`,
    [
      userId,
      wanted.map(() => newId()),
      wanted.map(({ webhookId }) => webhookId),
      wanted.map(({ noticed }) => noticed.event.position),
      wanted.map(({ noticed }) => noticed.event.type),
      wanted.map(({ noticed }) => JSON.stringify(toWebhookBody(noticed))),
    ],
  );
  return (result.rows as { id: string }[]).map((row) => ({ deliveryId: row.id }));
}

function toPushJobs(userId: string, readers: Reader[], events: NoticedEvent[]): PushJob[] {
  return readers
    .filter((reader) => reader.kind === 'push')
    .flatMap((reader) =>
      events
        .filter((noticed) => noticed.event.position > reader.position && isPushed(noticed))
        .map(({ event }) => ({ subscriptionId: reader.id, userId, taskId: event.taskId, seq: event.seq })),
    );
}

async function moveReaders(client: SqlClient, userId: string, through: number): Promise<void> {
  await client.query(
    'update vitto_webhooks set position = $2 where user_id = $1 and is_enabled and position < $2',
    [userId, through],
  );
  await client.query(
    'update vitto_push_subscriptions set position = $2 where user_id = $1 and position < $2',
    [userId, through],
  );
}
