import { existsSync } from 'node:fs';
import { mkdtemp, readdir, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EventEnvelope, SandboxOverview, Task } from '@vitto/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase } from '../kernel/database/testing.ts';
import {
  openClient,
  removeTestFolder,
  startVittoProcess,
  type VittoProcess,
} from './testing/vitto-process.ts';

/** Where images of this machine are; a test does not build one. */
const IMAGES = '/var/cache/vitto/images';
const MARKER = '/tmp/vitto-vm-tier-marker';

const SCRIPT = `turns:
  - calls: [{ tool: run_command, arguments: { command: "hostname; id -un; touch ${MARKER}; echo begun; sleep 15; echo finished" } }]
  - calls: [{ tool: run_command, arguments: { command: "ls ${MARKER}" } }]
  - text: Done.
`;

describe('a task whose commands run in a real VM', () => {
  let folder: string;
  let environment: Record<string, string>;
  let drop: () => Promise<void>;
  let hasImage = false;
  const processes: VittoProcess[] = [];

  beforeAll(async () => {
    hasImage = (await readdir(join(IMAGES, 'minimal')).catch(() => [])).some((name) =>
      /^[0-9a-f]{64}$/.test(name),
    );
    folder = await mkdtemp(join(tmpdir(), 'vitto-vm-'));
    await writeFile(join(folder, 'script.yaml'), SCRIPT);
    const test = await createTestDatabase();
    drop = test.drop;
    environment = {
      DATABASE_URL: test.url,
      VITTO_HOME: join(folder, 'home'),
      HOME: folder,
      VITTO_IMAGES: IMAGES,
      VITTO_VM_PROVIDER: 'qemu',
      VITTO_VM_DEGRADE: 'never',
      VITTO_VM_DEVELOPER_TEMPLATE: 'minimal',
      VITTO_VM_MEMORY_MIB: '256',
    };
  });
  afterAll(async () => {
    for (const one of processes) await one.end('SIGTERM');
    await drop();
    await removeTestFolder(folder, join(folder, 'home'));
  });
  const start = async () => {
    const one = await startVittoProcess(environment);
    processes.push(one);
    return { one, ...(await openClient(one.url ?? '', environment['VITTO_HOME'] ?? '')) };
  };

  it('gives the real result of a command although the server was killed while it ran', async (context) => {
    context.skip(!hasImage, `there is no image in ${IMAGES}: vitto image build minimal`);
    const first = await start();
    const { body: task } = await first.call<Task>('POST', '/api/tasks', {
      prompt: 'work in a VM',
      model: `script:${join(folder, 'script.yaml')}`,
    });
    let { call } = first;
    const events = async () =>
      (await call<{ items: EventEnvelope[] }>('GET', `/api/tasks/${task.id}/events?limit=1000`)).body.items;
    const hasBegun = async () => JSON.stringify(await events()).includes('begun\\n');
    await expect.poll(hasBegun, { timeout: 240_000, interval: 200 }).toBe(true);
    await first.one.end('SIGKILL');

    ({ call } = await start());
    const state = async () => (await call<Task>('GET', `/api/tasks/${task.id}`)).body.state;
    await expect.poll(state, { timeout: 240_000, interval: 500 }).toBe('completed');
    const all = await events();
    const payloads = (type: string) =>
      all.filter((event) => event.type === type).map((event) => event.payload);
    const [settled, after] = payloads('tool.called');
    expect(settled).toMatchObject({ status: 'ok', ranOn: { kind: 'vm', from: 'session' } });
    expect(settled?.['text']).toMatch(/machine's own record[^]*Exit code 0[^]*begun\nfinished/);
    // It ran in the machine and nowhere else.
    expect(settled?.['text']).toMatch(/\nuser\n/);
    expect(settled?.['text']).not.toContain(`\n${hostname()}\n`);
    expect(existsSync(MARKER)).toBe(false);
    expect(after).toMatchObject({ status: 'ok', ranOn: { kind: 'vm' } });
    expect(payloads('vm.acquired').length).toBeGreaterThanOrEqual(1);
    expect(payloads('vm.released')).toHaveLength(1);
    const { body: overview } = await call<SandboxOverview>('GET', '/api/sandbox');
    expect(overview.sandboxes).toMatchObject([{ claims: [] }]);
  });
});
