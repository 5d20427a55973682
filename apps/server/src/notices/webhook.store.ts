import type { NoticeEvent, Webhook, WebhookDelivery } from '@vitto/contracts';
import { notFound } from '../kernel/app-error.ts';
import type { Sql } from '../kernel/database/database.ts';
import type { Sealed } from '../identity/index.ts';

const COLUMNS = `id, url, description, events, is_enabled as "isEnabled", disabled_reason as "disabledReason",
  created_at as "createdAt", updated_at as "updatedAt"`;
const DELIVERY_COLUMNS = `id, webhook_id as "webhookId", event, state, attempts, last_status as "lastStatus",
  last_error as "lastError", created_at as "createdAt", delivered_at as "deliveredAt"`;

type Row<T> = { [K in keyof T]: K extends `${string}At` ? Date | Extract<T[K], null> : T[K] };

function toWebhook(row: Row<Webhook>): Webhook {
  return { ...row, createdAt: row.createdAt.toISOString(), updatedAt: row.updatedAt.toISOString() };
}

function toDelivery(row: Row<WebhookDelivery>): WebhookDelivery {
  return {
    ...row,
    createdAt: row.createdAt.toISOString(),
    deliveredAt: row.deliveredAt?.toISOString() ?? null,
  };
}

/** Begins at the journal's end: it is not told of what was before it. */
export async function insertWebhook(
  sql: Sql,
  userId: string,
  hook: { id: string; url: string; description: string; events: NoticeEvent[]; secret: Sealed },
): Promise<Webhook> {
  const result = await sql.query(
    `insert into vitto_webhooks (id, user_id, url, description, events, key_id, sealed_secret, position)
     values ($1, $2, $3, $4, $5, $6, $7,
       coalesce((select position from vitto_journal_positions where user_id = $2), 0))
     returning ${COLUMNS}`,
    [
      hook.id,
      userId,
      hook.url,
      hook.description,
      JSON.stringify(hook.events),
      hook.secret.keyId,
      hook.secret.sealed,
    ],
  );
  return toWebhook(result.rows[0] as Row<Webhook>);
}

export async function countWebhooks(sql: Sql, userId: string): Promise<number> {
  const result = await sql.query('select count(*)::int as count from vitto_webhooks where user_id = $1', [
    userId,
  ]);
  return (result.rows[0] as { count: number }).count;
}

export async function listWebhooks(sql: Sql, userId: string): Promise<Webhook[]> {
  const result = await sql.query(
    `select ${COLUMNS} from vitto_webhooks where user_id = $1 order by created_at desc, id desc`,
    [userId],
  );
  return (result.rows as Row<Webhook>[]).map(toWebhook);
}

/**
 * Changes what is given. One that is switched on again goes on from the journal's end.
 * @throws AppError `webhook.not-found`.
 */
export async function updateWebhook(
  sql: Sql,
  userId: string,
  id: string,
  change: {
    url?: string | undefined;
    description?: string | undefined;
    events?: NoticeEvent[] | undefined;
    isEnabled?: boolean | undefined;
  },
): Promise<Webhook> {
  const result = await sql.query(
    `update vitto_webhooks w set
       url = coalesce($3, url), description = coalesce($4, description), events = coalesce($5::jsonb, events),
       position = case when $6 and not is_enabled
         then coalesce((select p.position from vitto_journal_positions p where p.user_id = $2), 0) else position end,
       disabled_reason = case when $6 then null else disabled_reason end,
       is_enabled = coalesce($6, is_enabled), updated_at = now()
     where id = $1 and user_id = $2 returning ${COLUMNS}`,
    [
      id,
      userId,
      change.url ?? null,
      change.description ?? null,
      change.events === undefined ? null : JSON.stringify(change.events),
      change.isEnabled ?? null,
    ],
  );
  const row = result.rows[0] as Row<Webhook> | undefined;
  if (row === undefined) throw notFound('webhook');
  return toWebhook(row);
}

/** @throws AppError `webhook.not-found`. */
export async function deleteWebhook(sql: Sql, userId: string, id: string): Promise<void> {
  const result = await sql.query('delete from vitto_webhooks where id = $1 and user_id = $2', [id, userId]);
  if (result.rowCount === 0) throw notFound('webhook');
}

/** The newest deliveries of a webhook. @throws AppError `webhook.not-found`. */
export async function listDeliveries(
  sql: Sql,
  userId: string,
  webhookId: string,
  limit: number,
): Promise<WebhookDelivery[]> {
  const hook = await sql.query('select 1 from vitto_webhooks where id = $1 and user_id = $2', [
    webhookId,
    userId,
  ]);
  if (hook.rowCount === 0) throw notFound('webhook');
  const result = await sql.query(
    `select ${DELIVERY_COLUMNS} from vitto_webhook_deliveries where webhook_id = $1
     order by created_at desc, id desc limit $2`,
    [webhookId, limit],
  );
  return (result.rows as Row<WebhookDelivery>[]).map(toDelivery);
}

/** A webhook with what it takes to send to it. */
export interface WebhookTarget {
  id: string;
  userId: string;
  url: string;
  secret: Sealed;
}

const TARGET = `w.id, w.user_id as "userId", w.url, w.key_id as "keyId", w.sealed_secret as sealed`;
type TargetRow = Omit<WebhookTarget, 'secret'> & Sealed;
const toTarget = ({ keyId, sealed, ...rest }: TargetRow): WebhookTarget => ({
  ...rest,
  secret: { keyId, sealed },
});

/** @throws AppError `webhook.not-found`. */
export async function readWebhookTarget(sql: Sql, userId: string, id: string): Promise<WebhookTarget> {
  const result = await sql.query(
    `select ${TARGET} from vitto_webhooks w where w.id = $1 and w.user_id = $2`,
    [id, userId],
  );
  const row = result.rows[0] as TargetRow | undefined;
  if (row === undefined) throw notFound('webhook');
  return toTarget(row);
}

/** A delivery that is still to be made, with its body letter by letter; `null` when there is nothing to do any more. */
export async function readPendingDelivery(
  sql: Sql,
  deliveryId: string,
): Promise<{ target: WebhookTarget; body: string } | null> {
  const result = await sql.query(
    `select ${TARGET}, d.body::text as body
     from vitto_webhook_deliveries d join vitto_webhooks w on w.id = d.webhook_id
     where d.id = $1 and d.state = 'pending' and w.is_enabled`,
    [deliveryId],
  );
  const row = result.rows[0] as (TargetRow & { body: string }) | undefined;
  if (row === undefined) return null;
  const { body, ...target } = row;
  return { target: toTarget(target), body };
}

/** Ends a delivery that is not made any more, since its webhook is switched off. */
export async function closeDelivery(sql: Sql, deliveryId: string): Promise<void> {
  await sql.query(
    `update vitto_webhook_deliveries set state = 'failed', last_error = 'The webhook was switched off.'
     where id = $1 and state = 'pending'`,
    [deliveryId],
  );
}

export interface Attempt {
  status: number | null;
  error: string | null;
}

/** Notes a try; `state` says whether another follows. */
export async function noteAttempt(
  sql: Sql,
  deliveryId: string,
  attempt: Attempt,
  state: 'pending' | 'delivered' | 'failed',
): Promise<void> {
  await sql.query(
    `update vitto_webhook_deliveries set attempts = attempts + 1, last_status = $2, last_error = $3, state = $4,
       delivered_at = case when $4 = 'delivered' then now() end
     where id = $1 and state = 'pending'`,
    [deliveryId, attempt.status, attempt.error, state],
  );
}

/** Failed deliveries in a row after which a webhook is switched off. */
const FAILURES_TO_DISABLE = 20;

/**
 * Switches a webhook off at once (`isGone`), or when nothing has arrived in its last deliveries.
 * @returns why it was switched off; `null` when it was not.
 */
export async function disableFailing(sql: Sql, webhookId: string, isGone: boolean): Promise<string | null> {
  const result = await sql.query(
    `update vitto_webhooks set is_enabled = false, updated_at = now(), disabled_reason = $3
     where id = $1 and is_enabled and ($2 or (
       select count(*) = ${FAILURES_TO_DISABLE} and bool_and(state = 'failed') from (
         select state from vitto_webhook_deliveries where webhook_id = $1 and state <> 'pending'
         order by created_at desc, id desc limit ${FAILURES_TO_DISABLE}) as last))
     returning disabled_reason as "reason"`,
    [
      webhookId,
      isGone,
      isGone
        ? 'The receiver answered 410: it is gone.'
        : `The last ${FAILURES_TO_DISABLE} deliveries failed, each after many tries.`,
    ],
  );
  return (result.rows[0] as { reason: string } | undefined)?.reason ?? null;
}

/** Makes a failed delivery pending again. @throws AppError `delivery.not-found`. */
export async function reopenDelivery(
  sql: Sql,
  userId: string,
  webhookId: string,
  deliveryId: string,
): Promise<WebhookDelivery> {
  const result = await sql.query(
    `update vitto_webhook_deliveries set state = 'pending'
     where id = $1 and webhook_id = $2 and user_id = $3 and state = 'failed' returning ${DELIVERY_COLUMNS}`,
    [deliveryId, webhookId, userId],
  );
  const row = result.rows[0] as Row<WebhookDelivery> | undefined;
  if (row === undefined) throw notFound('delivery');
  return toDelivery(row);
}
