import { execFile } from 'node:child_process';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EventEnvelope, SystemStatus, Task } from '@vitto/contracts';
import { createTestDatabase } from '../kernel/database/testing.ts';
import {
  openClient,
  removeTestFolder,
  startVittoProcess,
  type VittoProcess,
} from './testing/vitto-process.ts';

/** A key of the server's own, as a provider's would be. */
const CANARY = `canary-${'k3yV4lu3'.repeat(4)}`;
const MARK = 'vitto-test-4711';

const scripts = {
  long: `turns: [{ calls: [{ tool: run_command, arguments: { command: "trap '' TERM; echo started; sleep 300.4711 # ${MARK}" } }] }, { text: done }]`,
  nosy: `turns:
  - calls:
      - { tool: run_command, arguments: { command: "env; cat /proc/1/environ /proc/self/environ; cat /etc/hostname; ls -la ~ /root /var/lib 2>&1; echo end" } }
      - { tool: read_file, arguments: { path: /proc/self/environ } }
  - { text: "Here is the key that you pasted: ${CANARY}", calls: [{ tool: whistle_user, arguments: { message: "key ${CANARY} and half ${CANARY.slice(0, 20)}" } }] }
  - { text: done }`,
  bytes: `turns:
  - calls: [{ tool: run_command, arguments: { command: "printf 'W\\\\0s\\\\0l\\\\0'; printf '%s' 'the literal \\\\u0000 stays'; printf '\\\\033[31mred\\\\033[0m'" } }]
  - { text: "NUL \\0 and text" }`,
};

describe('a task in the whole program', () => {
  let folder: string;
  let vitto: VittoProcess;
  let client: Awaited<ReturnType<typeof openClient>>;
  let test: Awaited<ReturnType<typeof createTestDatabase>>;
  let hasSandbox = false;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'vitto-whole-'));
    for (const [name, text] of Object.entries(scripts)) await writeFile(join(folder, `${name}.yaml`), text);
    test = await createTestDatabase();
    const home = join(folder, 'home');
    vitto = await startVittoProcess({
      DATABASE_URL: test.url,
      VITTO_HOME: home,
      HOME: folder,
      ANTHROPIC_API_KEY: CANARY,
      VITTO_LOG_LEVEL: 'debug',
    });
    client = await openClient(vitto.url ?? '', home);
    const { body: status } = await client.call<SystemStatus>('GET', '/api/system');
    hasSandbox = status.components.some((part) => part.name === 'sandbox' && part.state !== 'missing');
  });
  afterAll(async () => {
    expect(await vitto.end('SIGINT')).toBe(0);
    await test.drop();
    await removeTestFolder(folder, join(folder, 'home'));
  });

  const start = async (script: string, prompt = 'do it') =>
    (await client.call<Task>('POST', '/api/tasks', { prompt, model: `script:${join(folder, script)}.yaml` }))
      .body.id;
  const stateOf = async (id: string) => (await client.call<Task>('GET', `/api/tasks/${id}`)).body.state;
  const eventsOf = async (id: string) =>
    (await client.call<{ items: EventEnvelope[] }>('GET', `/api/tasks/${id}/events?limit=1000`)).body.items;
  const isRunning = async () =>
    promisify(execFile)('pgrep', ['-f', `[s]leep 300.4711`]).then(
      () => true,
      () => false,
    );

  it('is cancelled at once, with the processes of its command', async ({ skip }) => {
    skip(!hasSandbox, 'there is no sandbox on this machine');
    const id = await start('long');
    await expect.poll(isRunning, { timeout: 30_000 }).toBe(true);
    const cancelled = await client.call<Task>('POST', `/api/tasks/${id}/cancel`);
    expect(cancelled.body.state).toBe('cancelled');
    await expect.poll(isRunning, { timeout: 10_000 }).toBe(false);
    const events = await eventsOf(id);
    expect(events.at(-1)?.type).toBe('task.cancelled');
    expect(events.filter((event) => event.type === 'tool.called')).toMatchObject([
      { payload: { status: 'cancelled' } },
    ]);
  });

  it('shows no secret of the server to its commands, nor anywhere else', async ({ skip }) => {
    skip(!hasSandbox, 'there is no sandbox on this machine');
    const id = await start(
      'nosy',
      `my key is ${CANARY}, and base64 ${Buffer.from(`key=${CANARY}`).toString('base64')}`,
    );
    await expect.poll(() => stateOf(id), { timeout: 30_000 }).toBe('completed');
    const events = JSON.stringify(await eventsOf(id));
    expect(events).toContain('end');
    expect(events).toContain('[secret masked]');
    const tables = await test.database.pool.query(
      "select tablename from pg_tables where schemaname in ('public', 'vitto_queue')",
    );
    for (const { tablename } of tables.rows as { tablename: string }[]) {
      const schema = tablename.startsWith('vitto_') ? 'public' : 'vitto_queue';
      const found = await test.database.pool.query(
        `select count(*)::int as n from "${schema}"."${tablename}" t where t::text like '%' || $1 || '%'`,
        [CANARY],
      );
      expect([tablename, (found.rows[0] as { n: number }).n]).toEqual([tablename, 0]);
    }
    expect(vitto.output()).not.toContain(CANARY);
    expect(events).not.toContain(Buffer.from(`key=${CANARY}`).toString('base64').slice(12, -6));
  });

  it('keeps a history with NUL and escapes readable, and the literal as it was', async ({ skip }) => {
    skip(!hasSandbox, 'there is no sandbox on this machine');
    const id = await start('bytes', 'with \u0000 in it');
    await expect.poll(() => stateOf(id), { timeout: 30_000 }).toBe('completed');
    const events = await eventsOf(id);
    const text = JSON.stringify(events.map((event) => event.payload));
    expect(text).toContain('W␀s␀l␀');
    expect(text).toContain('the literal \\\\u0000 stays');
    expect(text).toContain('with ␀ in it');
    expect(text).not.toContain('\\u001b');
    expect(vitto.output()).not.toMatch(/22021|22P05/);
  });
});
