import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase } from '../kernel/database/testing.ts';
import { newId } from '../kernel/ids.ts';
import { registerSecrets } from '../kernel/text/mask-secrets.ts';
import { readAudit, recordAudit, verifyAudit, type AuditAct } from './index.ts';

const bed = await createTestDatabase();
const { pool } = bed.database;
afterAll(() => bed.drop());

const ANYBODY = {
  actorId: null,
  text: null,
  namedIds: [],
  action: null,
  from: null,
  to: null,
  before: null,
  limit: 100,
};
const act = (change: Partial<AuditAct> = {}): AuditAct => ({
  actorId: newId(),
  via: 'web',
  address: '127.0.0.1',
  action: 'secret.set',
  objectType: 'secret',
  objectId: 'GITHUB',
  detail: { note: 'ünïcode 🦊 "quoted", 1:2' },
  ...change,
});

/** Does what the database forbids, as somebody with its keys would. */
async function tamper(...statements: string[]): Promise<void> {
  await pool.query('alter table vitto_audit_events disable trigger user');
  try {
    for (const statement of statements) await pool.query(statement);
  } finally {
    await pool.query('alter table vitto_audit_events enable trigger user');
  }
}

beforeEach(async () => {
  await tamper(
    'delete from vitto_audit_events',
    "update vitto_audit_head set seq = 0, hash = decode(repeat('00', 32), 'hex')",
  );
});

describe('the audit trail', () => {
  it('is whole when it is empty, and when many write at once', async () => {
    expect(await verifyAudit(bed.database)).toMatchObject({ isIntact: true, entries: 0, lastHash: null });
    await Promise.all(Array.from({ length: 60 }, (_, i) => recordAudit(pool, act({ detail: { i } }))));
    const entries = await readAudit(pool, ANYBODY);
    expect(entries.map((entry) => entry.seq)).toEqual(Array.from({ length: 60 }, (_, i) => 60 - i));
    expect(await verifyAudit(bed.database)).toEqual({
      isIntact: true,
      entries: 60,
      brokenAt: null,
      reason: null,
      lastHash: entries[0]?.hash,
    });
  });

  it('has the same bytes whatever the session of the writer says of time and language', async () => {
    const client = await pool.connect();
    await client.query(
      "set timezone = 'Asia/Kathmandu'; set datestyle = 'German, DMY'; set intervalstyle = 'sql_standard'; set extra_float_digits = -3",
    );
    await recordAudit(client, act());
    client.release(true);
    await recordAudit(pool, act({ actorId: null, address: null, objectType: null, objectId: null }));
    expect(await verifyAudit(bed.database)).toMatchObject({ isIntact: true, entries: 2 });
  });

  it('takes nothing back: no update, no delete, no truncate', async () => {
    await recordAudit(pool, act());
    for (const statement of [
      "update vitto_audit_events set via = 'x'",
      'delete from vitto_audit_events',
      'truncate vitto_audit_events',
      'delete from vitto_audit_head',
    ]) {
      await expect(pool.query(statement), statement).rejects.toMatchObject({ code: 'VT010' });
    }
  });

  it('reads on while others write, more than a page of it', async () => {
    await pool.query(
      "select vitto_audit(null, 'system', null, 'test.done', null, i::text, '{}') from generate_series(1, 2500) i",
    );
    const [verified] = await Promise.all([verifyAudit(bed.database), recordAudit(pool, act())]);
    expect(verified.isIntact).toBe(true);
    expect(verified.entries).toBeGreaterThanOrEqual(2500);
  });

  it.each([
    ['a fact that was changed', ["update vitto_audit_events set detail = '{}' where seq = 3"], 3, 'changed'],
    [
      'a null that became a text',
      ["update vitto_audit_events set address = '-' where seq = 2"],
      2,
      'changed',
    ],
    [
      'a time that was moved',
      ["update vitto_audit_events set at = at - interval '1 ms' where seq = 4"],
      4,
      'changed',
    ],
    ['an entry that is gone', ['delete from vitto_audit_events where seq = 2'], 2, 'missing'],
    ['a first entry that is gone', ['delete from vitto_audit_events where seq = 1'], 1, 'missing'],
    [
      'two that changed places',
      [
        'update vitto_audit_events set seq = 99 where seq = 2',
        'update vitto_audit_events set seq = 2 where seq = 3',
        'update vitto_audit_events set seq = 3 where seq = 99',
      ],
      2,
      'changed',
    ],
    ['an end that was cut off', ['delete from vitto_audit_events where seq >= 4'], 4, 'end-missing'],
    ['everything gone', ['delete from vitto_audit_events'], 1, 'end-missing'],
    [
      'an entry that was put in after the end',
      [
        'insert into vitto_audit_events select 6, at, actor_id, via, address, action, object_type, object_id, detail, hash from vitto_audit_events where seq = 5',
      ],
      6,
      'added',
    ],
    [
      'a hash that was made to fit its changed entry, not the next one',
      [
        "update vitto_audit_events set via = 'cli' where seq = 3",
        `update vitto_audit_events e set hash = sha256((select hash from vitto_audit_events where seq = 2) || vitto_audit_bytes(e)) where seq = 3`,
      ],
      4,
      'changed',
    ],
    [
      'the last entry written anew with its hash',
      [
        "update vitto_audit_events set via = 'cli' where seq = 5",
        `update vitto_audit_events e set hash = sha256((select hash from vitto_audit_events where seq = 4) || vitto_audit_bytes(e)) where seq = 5`,
      ],
      5,
      'changed',
    ],
  ])('finds %s', async (_, statements, brokenAt, reason) => {
    for (let i = 0; i < 5; i += 1) await recordAudit(pool, act({ address: null, detail: { i } }));
    await tamper(...statements);
    expect(await verifyAudit(bed.database)).toMatchObject({ isIntact: false, brokenAt, reason });
  });

  it('holds small facts: secrets are masked, long texts cut, what no text holds replaced', async () => {
    registerSecrets(['a-very-secret-value-of-a-test']);
    await recordAudit(
      pool,
      act({ detail: { said: `x a-very-secret-value-of-a-test ${'y'.repeat(1_000)}`, nul: 'a\0b' } }),
    );
    const [entry] = await readAudit(pool, ANYBODY);
    expect(JSON.stringify(entry?.detail)).not.toContain('a-very-secret-value');
    expect(JSON.stringify(entry?.detail).length).toBeLessThan(300);
    expect(await verifyAudit(bed.database)).toMatchObject({ isIntact: true });
  });

  it('is searched by actor, text, action, time and number', async () => {
    const me = newId();
    await recordAudit(pool, act({ actorId: me, action: 'task.started', objectId: '100%_sure' }));
    await recordAudit(pool, act({ action: 'secret.set' }));
    await recordAudit(pool, act({ action: 'secret.deleted' }));
    const find = async (filter: object) =>
      (await readAudit(pool, { ...ANYBODY, ...filter })).map((entry) => entry.seq);
    expect(await find({ actorId: me })).toEqual([1]);
    expect(await find({ text: '100%_' })).toEqual([1]);
    expect(await find({ text: '%' })).toEqual([1]);
    expect(await find({ text: 'GITHUB', namedIds: [me] })).toEqual([3, 2, 1]);
    expect(await find({ action: 'secret' })).toEqual([3, 2]);
    expect(await find({ action: 'secret.set' })).toEqual([2]);
    expect(await find({ before: 3, limit: 1 })).toEqual([2]);
    const [second] = await readAudit(pool, { ...ANYBODY, before: 3, limit: 1 });
    expect(await find({ to: second?.at })).not.toContain(2);
    expect(await find({ from: second?.at })).toContain(2);
  });
});
