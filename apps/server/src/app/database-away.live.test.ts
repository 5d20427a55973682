import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EventEnvelope, Problem, Task } from '@vitto/contracts';
import { createTestDatabase } from '../kernel/database/testing.ts';
import {
  openClient,
  removeTestFolder,
  startVittoProcess,
  type VittoProcess,
} from './testing/vitto-process.ts';

const SCRIPT = `turns:
${Array.from({ length: 8 }, (_, n) => `  - { delayMs: 200, calls: [{ tool: whistle_user, arguments: { message: "step ${n + 1}" } }] }`).join('\n')}
  - text: All steps are done.
`;

describe('a server whose database goes away', () => {
  let folder: string;
  let vitto: VittoProcess;
  let client: Awaited<ReturnType<typeof openClient>>;
  let admin: Awaited<ReturnType<typeof createTestDatabase>>;
  let victim: Awaited<ReturnType<typeof createTestDatabase>>;
  const name = () => new URL(victim.url).pathname.slice(1);

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'vitto-away-'));
    await writeFile(join(folder, 'script.yaml'), SCRIPT);
    admin = await createTestDatabase();
    victim = await createTestDatabase();
    const home = join(folder, 'home');
    vitto = await startVittoProcess({ DATABASE_URL: victim.url, VITTO_HOME: home, HOME: folder });
    client = await openClient(vitto.url ?? '', home);
  });
  afterAll(async () => {
    expect(await vitto.end('SIGTERM')).toBe(0);
    await victim.drop();
    await admin.drop();
    await removeTestFolder(folder, join(folder, 'home'));
  });

  it('answers clearly meanwhile, lets the task wait, and goes on with nothing lost or done twice', async () => {
    const { body: task } = await client.call<Task>('POST', '/api/tasks', {
      prompt: 'eight steps',
      model: `script:${join(folder, 'script.yaml')}`,
    });
    const events = async () =>
      (await client.call<{ items: EventEnvelope[] }>('GET', `/api/tasks/${task.id}/events?limit=1000`)).body
        .items;
    await expect.poll(async () => (await events()).length, { timeout: 30_000 }).toBeGreaterThan(10);

    await admin.database.pool.query(`alter database ${name()} allow_connections false`);
    await admin.database.pool.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1',
      [name()],
    );
    const away = await client.call<Problem>('GET', `/api/tasks/${task.id}`);
    expect(away).toMatchObject({ status: 503, body: { code: 'database.unavailable' } });
    expect(away.body.hint).toMatch(/Nothing is lost/);
    expect((await client.call<Problem>('GET', '/readyz')).status).toBe(503);
    expect((await client.call('GET', '/healthz')).status).toBe(200);
    // Longer than a lease: the worker is not taken for dead, since nobody could have taken the task.
    await new Promise((resolve) => setTimeout(resolve, 14_000));
    expect((await client.call<Problem>('POST', '/api/tasks', { prompt: 'x' })).status).toBe(503);
    await admin.database.pool.query(`alter database ${name()} allow_connections true`);

    const state = async () => (await client.call<Task>('GET', `/api/tasks/${task.id}`)).body.state;
    await expect.poll(state, { timeout: 60_000, interval: 200 }).toBe('completed');
    const all = await events();
    expect(all.map((event) => event.seq)).toEqual(all.map((_, index) => index + 1));
    const steps = all.filter((event) => event.type === 'tool.called');
    expect(steps).toHaveLength(8);
    expect(steps.every((event) => event.payload['status'] === 'ok')).toBe(true);
  });
});
