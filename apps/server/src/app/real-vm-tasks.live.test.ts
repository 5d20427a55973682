import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EventEnvelope, SandboxOverview, Task } from '@vitto/contracts';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
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
  afterEach(async () => {
    for (const one of processes.splice(0)) await one.end('SIGTERM');
  });
  afterAll(async () => {
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

  it('stays with the process that has it when another one is started in the same home', async () => {
    const { one, call } = await start();
    await expect(startVittoProcess(environment)).rejects.toThrow(/Vitto runs already in .*sign-in/s);
    const { body } = await call<SandboxOverview>('GET', '/api/sandbox');
    expect(body.hosts).toMatchObject([{ isReachable: true }]);
    expect(one.output()).not.toContain('another process speaks');
    // One that is killed lets go at once.
    await one.end('SIGKILL');
    await start();
  });

  it('finds the folder that the user allows at its own path, and all of it again in the snapshot', async (context) => {
    context.skip(!hasImage, `there is no image in ${IMAGES}: vitto image build minimal`);
    const project = join(folder, 'project');
    await mkdir(join(project, '.git'), { recursive: true });
    await writeFile(join(project, 'sum.py'), 'print(6 * 7)\n');
    await writeFile(
      join(folder, 'look.yaml'),
      `conversations:
  - on: /once more/
    turns:
      - calls: [{ tool: run_command, arguments: { command: "cat copy/sum.py && python3 copy/sum.py" } }]
      - text: Done.
  - turns:
      - calls:
          - { tool: list_files, arguments: { path: "${project}/" } }
          - { tool: read_file, arguments: { path: "${project}/sum.py" } }
          - { tool: run_command, arguments: { command: 'mkdir copy && cp -R "${project}/." copy && python3 copy/sum.py' } }
      - text: Done.
`,
    );
    const { call } = await start();
    const run = async (prompt: string) => {
      const { body: task } = await call<Task>('POST', '/api/tasks', {
        prompt,
        model: `script:${join(folder, 'look.yaml')}`,
        allowedPaths: [project],
      });
      const state = async () => (await call<Task>('GET', `/api/tasks/${task.id}`)).body.state;
      await expect.poll(state, { timeout: 240_000, interval: 300 }).toBe('completed');
      const { body } = await call<{ items: EventEnvelope[] }>(
        'GET',
        `/api/tasks/${task.id}/events?limit=1000`,
      );
      const of = (type: string) =>
        body.items.filter((event) => event.type === type).map(({ payload }) => payload);
      return { called: of('tool.called'), acquired: of('vm.acquired') };
    };
    const { called } = await run('look at my project');
    expect(called.map(({ status }) => status)).toEqual(['ok', 'ok', 'ok']);
    expect(called[0]?.['text']).toContain(
      `A copy of ${project} is in /home/user/work/project, and its path leads there`,
    );
    expect(called[0]?.['text']).toContain('sum.py');
    expect(called[2]?.['text']).toContain('\n42');

    const { body } = await call<SandboxOverview>('GET', '/api/sandbox');
    const put = await call('POST', `/api/sandbox/${body.sandboxes[0]?.id ?? ''}/snapshot`);
    expect(put.status).toBe(204);
    const again = await run('once more');
    expect(again.acquired).toMatchObject([{ from: 'user-snapshot', restored: true, template: 'minimal' }]);
    expect(again.called[0]).toMatchObject({ status: 'ok', ranOn: { from: 'user-snapshot' } });
    expect(again.called[0]?.['text']).toContain('print(6 * 7)\n42');
  });
});
