import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { auditVerification, type AuditEntry } from '@vitto/contracts';
import { createSignInCode } from '../../identity/index.ts';
import { createClient, type Call } from './testing/api-client.ts';
import { createHttpTestbed, type HttpTestbed, type TestServer } from './testing/http-testbed.ts';
import { seedApproval } from './testing/seed.ts';

let bed: HttpTestbed;
let server: TestServer;
beforeAll(async () => {
  bed = await createHttpTestbed();
  server = await bed.startServer();
});
afterAll(() => bed.close());

const owner = (path: string, call?: Call) => createClient(server.url, bed.owner.token)(path, call);
const stranger = (path: string, call?: Call) => createClient(server.url, bed.stranger.token)(path, call);
const nobody = (path: string, call?: Call) => createClient(server.url)(path, call);
async function entries(query = '', as = owner): Promise<AuditEntry[]> {
  const answer = await as(`/api/audit?${query}`);
  expect(answer.status).toBe(200);
  return answer.json['items'] as AuditEntry[];
}

describe('what is recorded', () => {
  it('every route that changes something says what it leaves in the audit trail, or why nothing', () => {
    expect(server.app.unauditedRoutes).toEqual([]);
  });

  it('an act: who, through which door, from where, on what, and nothing of what was written', async () => {
    const answer = await owner('/api/conversations', { json: { title: 'a title that is private' } });
    const [entry] = await entries();
    expect(entry).toMatchObject({
      actorId: bed.owner.userId,
      actorName: 'Owner',
      via: 'api',
      address: '127.0.0.1',
      action: 'conversation.created',
      objectType: 'conversation',
      objectId: answer.json['id'],
      detail: {},
    });
    await owner(`/api/conversations/${String(answer.json['id'])}/messages`, {
      json: { text: 'my words, and nobody else need read them' },
    });
    await owner('/api/settings', { method: 'PATCH', json: { language: 'es' } });
    const [settings, message] = await entries();
    expect(settings).toMatchObject({ action: 'settings.changed', detail: { fields: ['language'] } });
    expect(message).toMatchObject({ action: 'message.sent', detail: { outcome: 'started' } });
    expect(JSON.stringify(await entries('limit=200'))).not.toMatch(/private|my words/);
  });

  it('a decision with what was decided on', async () => {
    const task = await bed.createTask(bed.owner.userId);
    const approval = await seedApproval(bed, bed.owner.userId, task);
    await owner(`/api/approvals/${approval}/decision`, { json: { decision: 'refused' } });
    const [entry] = await entries();
    expect(entry).toMatchObject({
      action: 'approval.decided',
      objectId: approval,
      detail: { decision: 'refused', tool: 'run_command', argumentsHash: 'hash' },
    });
  });

  it('an act that is repeated by its key once, one that failed not at all', async () => {
    const before = (await entries()).at(0)?.seq ?? 0;
    const headers = { 'idempotency-key': 'audit-once' };
    await owner('/api/conversations', { json: {}, headers });
    const again = await owner('/api/conversations', { json: {}, headers });
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    await owner('/api/conversations/01890000-0000-7000-8000-000000000000', { method: 'DELETE' });
    expect((await entries()).at(0)?.seq).toBe(before + 1);
  });

  it('sign-in, and what was no sign-in, without the code', async () => {
    const code = await createSignInCode(bed.database, bed.owner.userId);
    const answer = await nobody('/api/session', { json: { code } });
    expect(answer.status).toBe(201);
    expect((await entries()).at(0)).toMatchObject({
      action: 'sign-in.done',
      actorId: bed.owner.userId,
      via: 'web',
    });
    await nobody('/api/session', { json: { code } });
    expect((await entries()).at(0)).toMatchObject({
      action: 'sign-in.failed',
      actorId: null,
      detail: { code: 'sign-in.code-invalid' },
    });
    await createClient(server.url, `vitto_${'x'.repeat(43)}`)('/api/tasks');
    expect((await entries()).at(0)).toMatchObject({ action: 'sign-in.failed', objectId: 'GET /api/tasks' });
    expect(JSON.stringify(await entries('limit=200'))).not.toContain(code);
    // A browser that asks whether it is signed in has tried nothing.
    const last = (await entries()).at(0)?.seq;
    expect((await nobody('/api/session')).status).toBe(401);
    expect((await nobody('/api/tasks', { headers: { cookie: 'vitto_session=old' } })).status).toBe(401);
    expect((await entries()).at(0)?.seq).toBe(last);
  });

  it('what somebody asked for who may not', async () => {
    await bed.database.pool.query("update vitto_users set role = 'viewer' where id = $1", [
      bed.stranger.userId,
    ]);
    await stranger('/api/conversations', { json: {} });
    await bed.database.pool.query("update vitto_users set role = 'member' where id = $1", [
      bed.stranger.userId,
    ]);
    expect((await entries()).at(0)).toMatchObject({
      action: 'access.refused',
      actorId: bed.stranger.userId,
      objectId: 'POST /api/conversations',
      detail: { code: 'sign-in.read-only' },
    });
  });

  it('is not confirmed when it cannot be recorded', async () => {
    await bed.database.pool.query('alter table vitto_audit_head rename to vitto_audit_head_away');
    try {
      const answer = await owner('/api/conversations', { json: {} });
      expect(answer.status).toBe(503);
      expect(answer.json['code']).toBe('audit.not-written');
      // A refusal is refused all the same.
      expect((await nobody('/api/session', { json: { code: 'x' } })).status).toBe(401);
    } finally {
      await bed.database.pool.query('alter table vitto_audit_head_away rename to vitto_audit_head');
    }
  });
});

describe('reading it', () => {
  it('goes page by page, newest first, while it grows', async () => {
    for (let i = 0; i < 7; i += 1) await owner('/api/conversations', { json: {} });
    const all = await entries('limit=200');
    const seen: number[] = [];
    let cursor = '';
    do {
      const page = await owner(`/api/audit?limit=3${cursor === '' ? '' : `&cursor=${cursor}`}`);
      seen.push(...(page.json['items'] as AuditEntry[]).map((entry) => entry.seq));
      cursor = (page.json['nextCursor'] as string | null) ?? '';
      if (seen.length === 3) await owner('/api/conversations', { json: {} });
    } while (cursor !== '');
    expect(seen).toEqual(all.map((entry) => entry.seq));
  });

  it('finds by text, name, action and time, and names the actions there are', async () => {
    for (const entry of await entries('q=approval.dec')) expect(entry.action).toBe('approval.decided');
    expect((await entries('q=oWNer')).length).toBeGreaterThan(3);
    expect(await entries('q=%25')).toEqual([]);
    for (const entry of await entries('action=sign-in')) expect(entry.action).toMatch(/^sign-in\./);
    expect(await entries('to=2020-01-01T00:00:00Z')).toEqual([]);
    expect((await owner('/api/audit?from=yesterday')).status).toBe(422);
    expect((await owner('/api/audit/actions')).json['items']).toEqual(
      expect.arrayContaining(['approval.decided', 'conversation.created', 'sign-in.failed']),
    );
  });

  it('gives a member their own entries, and verifies for the owner only', async () => {
    await stranger('/api/conversations', { json: {} });
    const theirs = await entries('limit=200', stranger);
    expect(theirs.length).toBeGreaterThan(0);
    for (const entry of theirs) expect(entry.actorId).toBe(bed.stranger.userId);
    expect((await stranger('/api/audit/actions')).json['items']).not.toContain('approval.decided');
    expect((await stranger('/api/audit/verify')).status).toBe(403);
    const verified = auditVerification.parse((await owner('/api/audit/verify')).json);
    expect(verified).toMatchObject({ isIntact: true, brokenAt: null });
  });
});
