import { mkdtemp, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EventEnvelope, McpServer, Task } from '@vitto/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createStub, isAlive, type Stub } from '../extensions/mcp/testing/stub.ts';
import { createTestDatabase } from '../kernel/database/testing.ts';
import {
  openClient,
  removeTestFolder,
  startVittoProcess,
  type VittoProcess,
} from './testing/vitto-process.ts';

const SCRIPT = `turns:
  - { calls: [{ tool: mcp__stays__a-splits, arguments: {} }] }
  - text: Done.
`;

describe('a server of a Vitto that was killed', () => {
  let folder: string;
  let home: string;
  let stub: Stub;
  let environment: Record<string, string>;
  let drop: () => Promise<void>;
  const processes: VittoProcess[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'vitto-orphans-'));
    home = join(folder, 'home');
    stub = await createStub('stays');
    const test = await createTestDatabase();
    drop = test.drop;
    environment = { DATABASE_URL: test.url, VITTO_HOME: home, HOME: folder };
  });
  afterAll(async () => {
    await Promise.all(processes.map((one) => one.end('SIGKILL')));
    for (const pid of stub.pids().filter(isAlive)) process.kill(pid, 'SIGKILL');
    await stub.remove();
    await drop();
    await removeTestFolder(folder, home);
  });
  const start = async () => {
    const one = await startVittoProcess(environment);
    processes.push(one);
    return one;
  };

  it('lives on though its input has ended, and is ended by the next start', async () => {
    const first = await start();
    const { call } = await openClient(first.url ?? '', home);
    const request = { name: 'stays', transport: stub.transport, domain: 'knowledge', risk: 'read' };
    const { id } = (await call<McpServer>('POST', '/api/mcp-servers', request)).body;
    const { offeredHash } = (await call<McpServer>('POST', `/api/mcp-servers/${id}/check`, {})).body;
    await call('POST', `/api/mcp-servers/${id}/approve`, { offeredHash });
    const script = join(folder, 'script.yaml');
    await writeFile(script, SCRIPT);
    const { body: task } = await call<Task>('POST', '/api/tasks', {
      prompt: 'call it',
      model: `script:${script}`,
    });
    const calls = async () =>
      (
        await call<{ items: EventEnvelope[] }>('GET', `/api/tasks/${task.id}/events?limit=1000`)
      ).body.items.filter((event) => event.type === 'tool.called');
    await expect
      .poll(calls, { timeout: 60_000, interval: 100 })
      .toMatchObject([{ payload: { status: 'ok' } }]);

    const pid = stub.pids().at(-1) ?? 0;
    await first.end('SIGKILL');
    expect(isAlive(pid)).toBe(true);
    const second = await start();
    await expect.poll(() => isAlive(pid)).toBe(false);
    expect(await readdir(join(home, 'mcp-programs'))).toEqual([]);
    expect(await second.end()).toBe(0);
  });
});
