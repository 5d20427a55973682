import { mkdtemp, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EventEnvelope, Task } from '@vitto/contracts';
import { createTestDatabase } from '../kernel/database/testing.ts';
import {
  openClient,
  removeTestFolder,
  startVittoProcess,
  type VittoProcess,
} from './testing/vitto-process.ts';

/** Twelve steps with a command each; each turn takes a little while, so that a kill meets the task at work. */
const SCRIPT = `turns:
${Array.from({ length: 12 }, (_, n) => `  - { delayMs: 150, calls: [{ tool: run_command, arguments: { command: "echo step ${n + 1}" } }] }`).join('\n')}
  - text: All twelve steps are done.
`;

describe('worker processes that share a database', () => {
  let folder: string;
  let script: string;
  let base: Record<string, string>;
  let drop: () => Promise<void>;
  const processes: VittoProcess[] = [];
  let pool: Awaited<ReturnType<typeof createTestDatabase>>['database']['pool'];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'vitto-workers-'));
    script = join(folder, 'script.yaml');
    await writeFile(script, SCRIPT);
    const test = await createTestDatabase();
    pool = test.database.pool;
    drop = test.drop;
    base = { DATABASE_URL: test.url, VITTO_HOME: join(folder, 'home'), HOME: folder };
  });
  afterAll(async () => {
    await Promise.all(processes.map((one) => one.end('SIGKILL')));
    await drop();
    await removeTestFolder(folder, join(folder, 'home'));
  });
  const start = async (roles: string) => {
    const one = await startVittoProcess({ ...base, VITTO_ROLES: roles });
    processes.push(one);
    return one;
  };

  it('take over the task of one that was killed, repeat no finished step, and stop cleanly', async () => {
    const server = await start('server');
    const workers = [await start('worker'), await start('worker')];
    const { call } = await openClient(server.url ?? '', base['VITTO_HOME'] ?? '');
    const { body: task } = await call<Task>('POST', '/api/tasks', {
      prompt: 'twelve steps',
      model: `script:${script}`,
    });
    const events = async () =>
      (await call<{ items: EventEnvelope[] }>('GET', `/api/tasks/${task.id}/events?limit=1000`)).body.items;
    const stepsDone = async () => (await events()).filter((event) => event.type === 'tool.called').length;

    await expect.poll(stepsDone, { timeout: 60_000, interval: 50 }).toBeGreaterThanOrEqual(3);
    const holder = await pool.query(
      'select p.pid, p.host from vitto_tasks t join vitto_processes p on p.id = t.lease_holder where t.id = $1',
      [task.id],
    );
    const { pid, host } = holder.rows[0] as { pid: number; host: string };
    expect(host).toBe(hostname());
    const killed = workers.find((one) => one.child.pid === pid);
    expect(killed).toBeDefined();
    await killed?.end('SIGKILL');

    const state = async () => (await call<Task>('GET', `/api/tasks/${task.id}`)).body.state;
    await expect.poll(state, { timeout: 90_000, interval: 200 }).toBe('completed');
    const all = await events();
    expect(all.map((event) => event.seq)).toEqual(all.map((_, index) => index + 1));
    expect(all.filter((event) => event.type === 'task.resumed')).toHaveLength(1);
    const calls = all
      .filter((event) => event.type === 'tool.called')
      .map((event) => event.payload as { callId: string; status: string });
    expect(new Set(calls.map((one) => one.callId)).size).toBe(12);
    expect(calls).toHaveLength(12);
    // The call that was under way when the worker died is said to be unknown; no other is.
    expect(calls.filter((one) => one.status !== 'ok').length).toBeLessThanOrEqual(1);
    expect(calls.filter((one) => one.status !== 'ok' && one.status !== 'unknown')).toEqual([]);

    const survivor = workers.find((one) => one !== killed);
    expect(await survivor?.end('SIGTERM')).toBe(0);
    expect(await server.end('SIGINT')).toBe(0);
    const left = await pool.query('select pid from vitto_processes where pid <> $1', [pid]);
    expect(left.rows).toEqual([]);
  });

  it('give a running task back when they are stopped, and the next start finishes it', async () => {
    const first = await start('server,worker');
    const { call } = await openClient(first.url ?? '', base['VITTO_HOME'] ?? '');
    const { body: task } = await call<Task>('POST', '/api/tasks', {
      prompt: 'twelve steps',
      model: `script:${script}`,
    });
    const count = async () =>
      (
        await pool.query(
          "select count(*)::int as n from vitto_task_events where task_id = $1 and type = 'tool.called'",
          [task.id],
        )
      ).rows[0] as { n: number };
    await expect
      .poll(async () => (await count()).n, { timeout: 60_000, interval: 50 })
      .toBeGreaterThanOrEqual(2);
    expect(await first.end('SIGTERM')).toBe(0);
    const stateOf = async () =>
      (
        (await pool.query('select state from vitto_tasks where id = $1', [task.id])).rows[0] as {
          state: string;
        }
      ).state;
    expect(await stateOf()).toBe('queued');
    const second = await start('server,worker');
    await expect.poll(stateOf, { timeout: 60_000, interval: 200 }).toBe('completed');
    expect((await count()).n).toBe(12);
    expect(await second.end('SIGTERM')).toBe(0);
  });
});
