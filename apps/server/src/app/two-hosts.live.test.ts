import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EventEnvelope, SandboxOverview, SystemStatus, Task } from '@vitto/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase } from '../kernel/database/testing.ts';
import {
  openClient,
  removeTestFolder,
  startFakeHost,
  startVittoProcess,
  type VittoProcess,
} from './testing/vitto-process.ts';

/** The second command never ends by itself: the host is killed under it. */
const SCRIPT = `turns:
  - { calls: [{ tool: run_command, arguments: { command: "remember before" } }] }
  - { calls: [{ tool: run_command, arguments: { command: "hang" } }] }
  - { calls: [{ tool: run_command, arguments: { command: "echo after" } }] }
  - text: It went on.
`;
const TOKEN = 'q9ZrT4vN1xK8sLw2Yb7HdE5u';

describe('two sandbox hosts and one server', () => {
  let folder: string;
  let script: string;
  let url: string;
  let drop: () => Promise<void>;
  let pool: Awaited<ReturnType<typeof createTestDatabase>>['database']['pool'];
  const processes: VittoProcess[] = [];
  const homes: string[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'vitto-hosts-'));
    script = join(folder, 'script.yaml');
    await writeFile(script, SCRIPT);
    const test = await createTestDatabase();
    pool = test.database.pool;
    ({ url, drop } = test);
  });
  afterAll(async () => {
    await Promise.all(processes.map((one) => one.end('SIGKILL')));
    await drop();
    for (const home of homes) await removeTestFolder(home, home);
    await removeTestFolder(folder, join(folder, 'server'));
  });
  const environment = (name: string) => {
    const home = join(folder, name);
    homes.push(home);
    return { DATABASE_URL: url, VITTO_HOME: home, HOME: folder, VITTO_SANDBOX_TOKEN: TOKEN };
  };
  const startHost = async (name: string) => {
    const host = await startFakeHost({
      ...environment(name),
      HOST_NAME: name,
      VITTO_ROLES: 'sandbox',
      VITTO_VM_PROVIDER: 'qemu',
    });
    processes.push(host);
    return host;
  };

  it('lose no task when one is killed: its call is told, and the task goes on on the other', async () => {
    const hosts = { one: await startHost('one'), two: await startHost('two') };
    const server = await startVittoProcess({
      ...environment('server'),
      VITTO_SANDBOX_URL: `${hosts.one.url},${hosts.two.url}`,
      VITTO_VM_DEGRADE: 'never',
    });
    processes.push(server);
    const { call } = await openClient(server.url ?? '', join(folder, 'server'));
    const overview = async () => (await call<SandboxOverview>('GET', '/api/sandbox')).body;
    expect((await overview()).hosts.map(({ name, isReachable }) => [name, isReachable])).toEqual([
      ['one', true],
      ['two', true],
    ]);
    const { body: task } = await call<Task>('POST', '/api/tasks', {
      prompt: 'go on whatever happens',
      model: `script:${script}`,
    });
    const events = async () =>
      (await call<{ items: EventEnvelope[] }>('GET', `/api/tasks/${task.id}/events?limit=1000`)).body.items;
    const commands = async () => (await overview()).sandboxes.flatMap((one) => one.commands);
    await expect.poll(commands, { timeout: 60_000 }).toMatchObject([{ taskId: task.id, command: 'hang' }]);

    const [machine] = (await overview()).sandboxes;
    const names = new Map((await overview()).hosts.map(({ id, name }) => [id, name]));
    const name = names.get(machine?.hostId ?? '') as 'one' | 'two';
    await hosts[name].end('SIGKILL');
    // The minute after which a host without a sign of life is given up.
    await pool.query(
      "update vitto_sandbox_hosts set heartbeat_at = now() - interval '1 hour' where id = $1",
      [machine?.hostId],
    );
    await pool.query(
      "update vitto_vm_sessions set lease_until = now() - interval '1 hour' where host_id = $1",
      [machine?.hostId],
    );

    const state = async () => (await call<Task>('GET', `/api/tasks/${task.id}`)).body.state;
    await expect.poll(state, { timeout: 90_000, interval: 200 }).toBe('completed');
    const all = await events();
    const calls = all
      .filter(({ type }) => type === 'tool.called')
      .map(({ payload }) => payload as { status: string; output: unknown });
    expect(calls.map(({ status }) => status)).toEqual(['ok', 'error', 'ok']);
    expect(JSON.stringify(calls[1])).toContain('session-lost');
    const now = await overview();
    expect(now.hosts.find((host) => host.name === name)).toMatchObject({ isReachable: false });
    expect(now.sandboxes.map(({ hostId }) => names.get(hostId))).toEqual([name === 'one' ? 'two' : 'one']);
    const status = (await call<SystemStatus>('GET', '/api/system')).body;
    expect(status.components.find((part) => part.name === 'sandbox')).toMatchObject({
      state: 'degraded',
      detail: expect.stringContaining(`the host ${name} does not answer`),
    });
  });

  it('run a command of a person in the machine that the task left', async () => {
    const server = processes.at(-1) as VittoProcess;
    const { call, token } = await openClient(server.url ?? '', join(folder, 'server'));
    const { sandboxes } = (await call<SandboxOverview>('GET', '/api/sandbox')).body;
    const id = sandboxes[0]?.id ?? '';
    const waited = await call('POST', `/api/sandbox/${id}/exec`, { command: 'echo hello' });
    expect(waited).toMatchObject({ status: 200, body: { exitCode: 0, stdout: { text: 'hello\n' } } });
    const streamed = await fetch(`${server.url}/api/sandbox/${id}/exec`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'text/event-stream',
      },
      body: JSON.stringify({ command: 'echo hello' }),
    });
    expect(await streamed.text()).toMatch(/event: stdout\ndata: aGVsbG8K\n\nevent: result\n/);
    expect((await call('POST', `/api/sandbox/${id}/snapshot`)).status).toBe(204);
    expect((await call<SandboxOverview>('GET', '/api/sandbox')).body.sandboxes[0]?.state).toBe('suspended');
    expect((await call('POST', `/api/sandbox/${id}/forget`)).status).toBe(204);
    const trail = await call<{ items: { action: string }[] }>('GET', '/api/audit');
    const actions = trail.body.items.map(({ action }) => action);
    expect(actions).toEqual(
      expect.arrayContaining(['sandbox.command-run', 'sandbox.snapshotted', 'sandbox.forgotten']),
    );
  });
});
