import type { AuditEntry } from '@vitto/contracts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FakeServer } from './testing/fake-server.ts';
import { runVitto } from './testing/run-vitto.ts';

let server: FakeServer;
beforeEach(async () => {
  server = await new FakeServer().start();
});
afterEach(() => server.stop());

const ENTRY: AuditEntry = {
  seq: 7,
  at: '2026-11-30T10:00:00.000Z',
  actorId: '01890000-0000-7000-8000-000000000001',
  actorName: 'Ana\u001b[31m',
  via: 'web',
  address: '127.0.0.1',
  action: 'secret.set',
  objectType: 'secret',
  objectId: 'GITHUB',
  detail: {},
  hash: 'ab'.repeat(32),
};

test('audit ls shows an entry a line, and whatever stands in it is only text', async () => {
  server.audit.push(ENTRY);
  const run = await runVitto(['audit', 'ls', '--action', 'secret', '--search', 'GIT'], server);
  expect(run.code).toBe(0);
  expect(run.stdout).toMatch(/^7 .*Ana.* web .*127\.0\.0\.1 .*secret\.set .*secret GITHUB .*ababababab\n$/);
  expect(run.stdout).not.toContain('\u001b');
  const json = await runVitto(['audit', 'ls', '--json'], server);
  expect(JSON.parse(json.stdout)).toMatchObject({ items: [{ seq: 7 }] });
});

test('audit verify says that the trail is intact and how it ends', async () => {
  server.verification = {
    isIntact: true,
    entries: 2,
    brokenAt: null,
    reason: null,
    lastHash: 'cd'.repeat(32),
  };
  const run = await runVitto(['audit', 'verify'], server);
  expect(run).toMatchObject({
    code: 0,
    stdout: `The audit trail is intact: 2 entries; it ends with ${'cd'.repeat(32)}.\n`,
  });
});

test('audit verify exits with 1 when the trail is broken, and names where', async () => {
  server.verification = {
    isIntact: false,
    entries: 3,
    brokenAt: 4,
    reason: 'missing',
    lastHash: 'cd'.repeat(32),
  };
  const run = await runVitto(['audit', 'verify'], server);
  expect(run.code).toBe(1);
  expect(run.stdout).toMatch(/^The audit trail is broken at entry 4: it is gone/);
  expect((await runVitto(['audit', 'verify', '--json'], server)).code).toBe(1);
});
