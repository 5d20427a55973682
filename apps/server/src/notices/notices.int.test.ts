import { createECDH, randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { createWebhook, updateWebhook as changeWebhook, type NewEvent } from '@vitto/contracts';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { appendEvents } from '../engine/index.ts';
import { ensureOwner, readSettings, Vault } from '../identity/index.ts';
import { createTestDatabase } from '../kernel/database/testing.ts';
import { newId } from '../kernel/ids.ts';
import { silentLogger } from '../kernel/logger.ts';
import { createGuardedFetch } from '../kernel/network/guarded-fetch.ts';
import { allowLoopback, openSite, type Site } from '../kernel/network/testing/site.ts';
import { WakeQueue } from '../kernel/queue.ts';
import { SignalBus } from '../kernel/signal-bus.ts';
import {
  deletePushSubscription,
  deleteWebhook,
  listDeliveries,
  listPushSubscriptions,
  listWebhooks,
  Notices,
  updateWebhook,
} from './index.ts';

/** As the product does it, but without waiting for the next try. */
const QUICK = { retryLimit: 2, retryDelay: 1, retryDelayMax: 1 };

const vault = new Vault(randomBytes(32));
let made: Awaited<ReturnType<typeof createTestDatabase>>;
let queue: WakeQueue;
let signals: SignalBus;
let userId: string;
let strangerId: string;
let web: ReturnType<typeof createGuardedFetch>;
beforeAll(async () => {
  made = await createTestDatabase();
  userId = (await ensureOwner(made.database)).id;
  strangerId = newId();
  await made.database.pool.query("insert into vitto_users (id, name, role) values ($1, 'S', 'member')", [
    strangerId,
  ]);
  queue = new WakeQueue({ url: made.url, logger: silentLogger, isWorker: true });
  await queue.start();
  signals = new SignalBus({
    url: made.url,
    publish: (text, values) => made.database.pool.query(text, values),
    logger: silentLogger,
  });
  await signals.start();
  web = createGuardedFetch(allowLoopback());
});
afterAll(async () => {
  await queue.stop();
  await signals.stop();
  await web.close();
  await made.drop();
});

let site: Site;
let answers: ((response: ServerResponse) => void)[] = [];
let all: Notices[] = [];
const disabled: [string, string][] = [];
beforeEach(async () => {
  answers = [];
  site = await openSite((_request, response) => (answers.shift() ?? accept)(response));
});
afterEach(async () => {
  for (const one of all) await one.stop();
  all = [];
  for (const hook of await listWebhooks(made.database.pool, userId))
    await deleteWebhook(made.database.pool, userId, hook.id);
  for (const one of await listPushSubscriptions(made.database.pool, userId))
    await deletePushSubscription(made.database.pool, userId, one.id);
  await site.close();
});

const accept = (response: ServerResponse) => void response.writeHead(204).end();
const answer =
  (status: number, headers = {}) =>
  (response: ServerResponse) =>
    void response.writeHead(status, headers).end();
const url = () => `http://127.0.0.1:${site.port}/hook`;

async function startNotices(): Promise<Notices> {
  const notices = new Notices({
    database: made.database,
    queue: {
      openSending: (name) => queue.openSending(name, QUICK),
      send: (...args) => queue.send(...args),
      workSending: (...args) => queue.workSending(...args),
    },
    signals,
    vault,
    fetchFor: async () => web.fetch,
    fetchPublic: web.fetch,
    readSettings: (id) => readSettings(made.database, id),
    contact: 'https://vitto.test',
    recordDisabled: (_, id, reason) => Promise.resolve(void disabled.push([id, reason])),
    logger: silentLogger,
  });
  all.push(notices);
  await notices.start();
  return notices;
}

async function startTask(by = userId): Promise<string> {
  const id = newId();
  await made.database.pool.query(
    `insert into vitto_tasks (id, user_id, root_id, depth, kind, title, state, complexity, estimated_duration,
       max_iterations, fence, lease_holder, lease_until, started_at)
     values ($1, $2, $1, 0, 'chat', 'mend the tests', 'running', 'simple', 'short', 50, 1, 'test', now() + interval '1 hour', now())`,
    [id, by],
  );
  return id;
}

async function tell(taskId: string, events: NewEvent[], by = userId): Promise<void> {
  await appendEvents(made.database.pool, { taskId, fence: 1, events });
  signals.journalGrew(by);
}

/** As the routes do it. */
async function addWebhook(notices: Notices, ...made: Parameters<Notices['webhooks']['create']>) {
  const webhook = await notices.webhooks.create(...made);
  await notices.refresh();
  return webhook;
}
async function subscribe(notices: Notices, ...given: Parameters<Notices['push']['subscribe']>) {
  const kept = await notices.push.subscribe(...given);
  await notices.refresh();
  return kept;
}

const requested = (): NewEvent => ({
  type: 'approval.requested',
  payload: {
    approvalId: newId(),
    callId: 'c1',
    tool: 'send_message',
    arguments: { to: 'everybody', text: 'a secret plan' },
    argumentsHash: 'h',
    reason: 'send_message cannot be undone',
    risk: 'irreversible',
    domain: 'messaging',
    expiresAt: new Date().toISOString(),
  },
});

describe('a webhook', () => {
  it('is sent each event that it wants once, signed, without arguments, however many processes look', async () => {
    const [notices] = [await startNotices(), await startNotices()];
    const hook = await addWebhook(notices, userId, {
      url: url(),
      description: '',
      events: ['approval.requested'],
    });
    await startTask().then((id) => tell(id, [requested()], userId));
    const other = await startTask(strangerId);
    await tell(other, [requested()], strangerId);
    await expect.poll(() => site.requests.length, { timeout: 20_000 }).toBe(1);
    const [sent] = site.requests;
    const body = new Webhook(hook.secret).verify(sent?.body ?? '', sent?.headers as Record<string, string>);
    expect(body).toMatchObject({
      type: 'approval.requested',
      data: { tool: 'send_message', title: 'mend the tests' },
    });
    expect(sent?.body).not.toContain('secret plan');
    await expect
      .poll(async () =>
        (await listDeliveries(made.database.pool, userId, hook.id, 10)).map((one) => one.state),
      )
      .toEqual(['delivered']);
  });

  it('tries again what was not accepted, with the same id, and gives up at last; a person can have it tried again', async () => {
    const notices = await startNotices();
    const hook = await addWebhook(notices, userId, {
      url: url(),
      description: '',
      events: ['approval.requested'],
    });
    answers = [answer(500), answer(302, { location: 'http://127.0.0.1/elsewhere' }), answer(503)];
    await tell(await startTask(), [requested()]);
    const read = async () => (await listDeliveries(made.database.pool, userId, hook.id, 10))[0];
    await expect.poll(async () => (await read())?.state, { timeout: 30_000 }).toBe('failed');
    expect(await read()).toMatchObject({ attempts: 3, lastStatus: 503, lastError: 'It answered 503.' });
    expect(new Set(site.requests.map((one) => one.headers['webhook-id'])).size).toBe(1);

    await expect(notices.webhooks.retry(strangerId, hook.id, (await read())?.id ?? '')).rejects.toMatchObject(
      {
        code: 'delivery.not-found',
      },
    );
    await notices.webhooks.retry(userId, hook.id, (await read())?.id ?? '');
    await expect.poll(async () => (await read())?.state, { timeout: 30_000 }).toBe('delivered');
  });

  it('that is gone is switched off, and goes on from now when it is switched on again', async () => {
    const notices = await startNotices();
    const hook = await addWebhook(notices, userId, {
      url: url(),
      description: '',
      events: ['approval.requested'],
    });
    answers = [answer(410)];
    const task = await startTask();
    await tell(task, [requested()]);
    const read = async () => (await listWebhooks(made.database.pool, userId))[0];
    await expect.poll(async () => (await read())?.isEnabled, { timeout: 20_000 }).toBe(false);
    expect((await read())?.disabledReason).toMatch(/410/);
    expect(disabled).toEqual([[hook.id, 'The receiver answered 410: it is gone.']]);
    await tell(task, [requested()]);
    await updateWebhook(made.database.pool, userId, hook.id, { isEnabled: true });
    await notices.refresh();
    await tell(task, [requested()]);
    await expect.poll(() => site.requests.length, { timeout: 20_000 }).toBe(2);
    expect(await listDeliveries(made.database.pool, userId, hook.id, 10)).toHaveLength(2);
  });

  it('that is switched off leaves no delivery waiting for ever', async () => {
    const notices = await startNotices();
    const hook = await addWebhook(notices, userId, {
      url: url(),
      description: '',
      events: ['approval.requested'],
    });
    answers = [answer(500)];
    await tell(await startTask(), [requested()]);
    const read = async () => (await listDeliveries(made.database.pool, userId, hook.id, 10))[0];
    await expect.poll(async () => (await read())?.attempts, { timeout: 20_000 }).toBe(1);
    await updateWebhook(made.database.pool, userId, hook.id, { isEnabled: false });
    await expect.poll(async () => (await read())?.state, { timeout: 20_000 }).toBe('failed');
    expect(await read()).toMatchObject({ attempts: 1, lastError: 'The webhook was switched off.' });
  });

  it('whose secret cannot be opened says so with its deliveries', async () => {
    const notices = await startNotices();
    const hook = await addWebhook(notices, userId, {
      url: url(),
      description: '',
      events: ['approval.requested'],
    });
    await made.database.pool.query("update vitto_webhooks set key_id = 'another' where id = $1", [hook.id]);
    await tell(await startTask(), [requested()]);
    const read = async () => (await listDeliveries(made.database.pool, userId, hook.id, 10))[0];
    await expect.poll(async () => (await read())?.state, { timeout: 30_000 }).toBe('failed');
    expect((await read())?.lastError).toMatch(/master key another/);
  });

  it('is told of what happened while no process looked', async () => {
    const before = await startNotices();
    await addWebhook(before, userId, { url: url(), description: '', events: ['approval.requested'] });
    await before.stop();
    const task = await startTask();
    await tell(task, [requested(), requested()]);
    await startNotices();
    await expect.poll(() => site.requests.length, { timeout: 20_000 }).toBe(2);
  });

  it('can be tried out, and says in words why nothing arrives', async () => {
    const notices = await startNotices();
    const hook = await addWebhook(notices, userId, {
      url: url(),
      description: '',
      events: ['task.failed'],
    });
    expect(await notices.webhooks.test(userId, hook.id)).toMatchObject({
      isOk: true,
      status: 204,
      error: null,
    });
    await updateWebhook(made.database.pool, userId, hook.id, { url: 'http://169.254.169.254/latest' });
    expect(await notices.webhooks.test(userId, hook.id)).toMatchObject({ isOk: false, status: null });
    await expect(notices.webhooks.test(strangerId, hook.id)).rejects.toMatchObject({
      code: 'webhook.not-found',
    });
  });

  it('has no password in its address', () => {
    for (const [address, isTaken] of [
      ['https://user:pass@receiver.test/', false],
      ['http://token@receiver.test', false],
      ['https://receiver.test/hook?mail=a@b.test', true],
    ] as const) {
      const request = { url: address, events: ['task.failed'] };
      expect(createWebhook.safeParse(request).success, address).toBe(isTaken);
      expect(changeWebhook.safeParse({ url: address }).success, address).toBe(isTaken);
    }
  });

  it('keeps its secret sealed', async () => {
    const notices = await startNotices();
    const hook = await addWebhook(notices, userId, {
      url: url(),
      description: '',
      events: ['task.failed'],
    });
    const rows = await made.database.pool.query('select w::text as text from vitto_webhooks w');
    expect(JSON.stringify(rows.rows)).not.toContain(hook.secret.slice(6));
    expect(JSON.stringify(await listWebhooks(made.database.pool, userId))).not.toContain('whsec_');
  });
});

describe('a browser that asked to be called', () => {
  const receiver = createECDH('prime256v1');
  receiver.generateKeys();
  const authSecret = randomBytes(16);
  const subscription = () => ({
    endpoint: `http://127.0.0.1:${site.port}/push/${newId()}`,
    keys: { p256dh: receiver.getPublicKey('base64url'), auth: authSecret.toString('base64url') },
  });

  it('gets a message that only it can read, in the language of the person', async () => {
    const bodies: Buffer[] = [];
    await site.close();
    site = await openSite((request, response) => {
      expect(request.headers['content-encoding']).toBe('aes128gcm');
      expect(request.headers.authorization).toMatch(/^vapid t=.+, k=.+/);
      accept(response);
    });
    const notices = await startNotices();
    await subscribe(notices, userId, subscription(), 'Chrome 140, Linux');
    const task = await startTask();
    await tell(task, [{ type: 'agent.text', payload: { turn: 1, attempt: 1, delta: 'x' } }, requested()]);
    await expect.poll(() => site.requests.length, { timeout: 20_000 }).toBe(1);
    for (const request of site.requests) bodies.push(Buffer.from(request.body, 'latin1'));
    expect(bodies).toHaveLength(1);
    expect(bodies[0]?.toString()).not.toContain('mend');
    await expect
      .poll(async () => (await listPushSubscriptions(made.database.pool, userId))[0]?.lastSentAt)
      .not.toBeNull();
  });

  it('that has unsubscribed is forgotten', async () => {
    const notices = await startNotices();
    const kept = await subscribe(notices, userId, subscription(), 'Firefox 150');
    answers = [answer(410)];
    await expect(
      notices.push.test(userId, kept.id, { title: 't', body: 'b', path: '/vitto', tag: 'x', isUrgent: true }),
    ).rejects.toMatchObject({ code: 'push.failed' });
    expect(await listPushSubscriptions(made.database.pool, userId)).toEqual([]);
  });

  it('has one key pair to subscribe with, made once however many processes ask', async () => {
    const notices = await Promise.all([startNotices(), startNotices(), startNotices()]);
    const keys = await Promise.all(notices.map((one) => one.push.readKey()));
    expect(new Set(keys).size).toBe(1);
    expect(Buffer.from(keys[0] ?? '', 'base64url')).toHaveLength(65);
  });
});
