import { afterAll, beforeAll, expect, it } from 'vitest';
import { verifyAudit } from '../audit/index.ts';
import { createTestDatabase } from '../kernel/database/testing.ts';
import { inTransaction } from '../kernel/database/transaction.ts';
import { recordWebhookDisabled } from './system-acts.ts';

let test: Awaited<ReturnType<typeof createTestDatabase>>;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

it('a webhook that is switched off is recorded with it or not at all', async () => {
  const { database } = test;
  const rows = async () =>
    (await database.pool.query('select actor_id, via, action, object_id, detail from vitto_audit_events'))
      .rows as unknown[];
  const broken = inTransaction(database, async (client) => {
    await recordWebhookDisabled(client, 'hook', 'it is gone');
    throw new Error('and then it failed');
  });
  await expect(broken).rejects.toThrow('and then it failed');
  expect(await rows()).toEqual([]);
  await inTransaction(database, (client) => recordWebhookDisabled(client, 'hook', 'it is gone'));
  expect(await rows()).toEqual([
    {
      actor_id: null,
      via: 'system',
      action: 'webhook.disabled',
      object_id: 'hook',
      detail: { reason: 'it is gone' },
    },
  ]);
  expect(await verifyAudit(database)).toMatchObject({ isIntact: true });
});
