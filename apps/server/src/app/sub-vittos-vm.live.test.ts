import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getuid } from 'node:process';
import type { Approval, SandboxOverview, SystemStatus, Task } from '@vitto/contracts';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { chooseDataRoot } from '../kernel/database/local-postgres.ts';
import { createTestDatabase } from '../kernel/database/testing.ts';
import { newId } from '../kernel/ids.ts';
import { checkEndedTree, eventsOf, readTree, type TreeTask } from './testing/task-tree.ts';
import {
  openClient,
  removeTestFolder,
  startVittoProcess,
  type VittoProcess,
} from './testing/vitto-process.ts';

/** Where images of this machine are; a test does not build one. */
const IMAGES = '/var/cache/vitto/images';
const run = (command: string) => `{ tool: run_command, arguments: { command: '${command}' } }`;
const inVm = (name: string, more = '') => `{ description: ${name}, tier: vm${more} }`;
const root = (name: string, tasks: string[]) => `
  - on: /^${name}$/
    turns:
      - calls: [{ tool: deploy_agents, arguments: { tasks: [${tasks.join(', ')}] } }]
      - text: All are read.`;

const SCRIPT = `conversations:${root('share', [inVm('hands over'), inVm('takes', ', dependsOn: [0]'), inVm('works beside')])}${root('look', [inVm('looks')])}${root('three that ask', [inVm('commands a'), inVm('commands b'), inVm('commands c'), inVm('commands late'), inVm('commands last', ', dependsOn: [0]')])}
  - on: /^hands over/
    turns:
      - calls: [{ tool: write_file, arguments: { path: out.txt, content: from the first } }]
      - calls: [${run('pwd; readlink -f out.txt; ls')}]
      - { capture: { path: '/(\\S+\\/out\\.txt)/' }, text: 'The result is in {{path}} for you.' }
  - on: /^takes/
    turns:
      - { capture: { path: '/The result is in (\\S+)/' }, calls: [{ tool: read_file, arguments: { path: '{{path}}' } }] }
      - calls: [{ tool: write_file, arguments: { path: out.txt, content: from the second } }, ${run('pwd; cat out.txt {{path}}')}]
      - text: Read.
  - on: /^works beside/
    turns:
      - calls: [{ tool: write_file, arguments: { path: out.txt, content: from the third } }, ${run('pwd; cat out.txt')}]
      - text: Done.
  - on: /^looks/
    turns: [{ calls: [${run('pwd; ls -1 /home/user/work')}] }, { text: Done. }]
  - on: /^commands late/
    turns: [{ delayMs: 4000, calls: [${run('echo here I am')}] }, { text: Done. }]
  - on: /^commands/
    turns: [{ calls: [${run('echo here I am')}] }, { text: Done. }]
`;

describe('sub-Vittos that need a machine', () => {
  let folder: string;
  let home: string;
  let test: Awaited<ReturnType<typeof createTestDatabase>>;
  let hasImage = false;
  const processes: VittoProcess[] = [];

  beforeAll(async () => {
    hasImage = (await readdir(join(IMAGES, 'minimal')).catch(() => [])).some((name) =>
      /^[0-9a-f]{64}$/.test(name),
    );
    folder = await mkdtemp(join(tmpdir(), 'vitto-sub-vm-'));
    home = join(folder, 'home');
    await writeFile(join(folder, 'script.yaml'), SCRIPT);
    test = await createTestDatabase();
  });
  afterEach(async () => {
    for (const one of processes.splice(0)) await one.end('SIGTERM');
  });
  afterAll(async () => {
    await test.drop();
    await removeTestFolder(folder, home);
  });

  const start = async (environment: Record<string, string>) => {
    const one = await startVittoProcess({
      DATABASE_URL: test.url,
      VITTO_HOME: home,
      HOME: folder,
      ...environment,
    });
    processes.push(one);
    const { call } = await openClient(one.url ?? '', home);
    const deploy = async (prompt: string) => {
      const model = `script:${join(folder, 'script.yaml')}`;
      return (await call<Task>('POST', '/api/tasks', { prompt, model })).body.id;
    };
    const finish = async (rootId: string) => {
      const state = async () => (await call<Task>('GET', `/api/tasks/${rootId}`)).body.state;
      await expect
        .poll(state, { timeout: 120_000, interval: 300 })
        .toBe('completed')
        .catch(async (error: unknown) => {
          const left = await readTree(test.database.pool, rootId);
          throw new Error(
            JSON.stringify(
              left.map(({ title, state: at, events }) => [title, at, events.slice(-4)]),
              null,
              1,
            ),
            { cause: error },
          );
        });
      const tree = await readTree(test.database.pool, rootId);
      checkEndedTree(tree);
      return tree;
    };
    return { call, deploy, finish };
  };
  const startWithVms = () =>
    start({
      VITTO_IMAGES: IMAGES,
      VITTO_VM_PROVIDER: 'qemu',
      VITTO_VM_DEGRADE: 'never',
      VITTO_VM_DEVELOPER_TEMPLATE: 'minimal',
      VITTO_VM_MEMORY_MIB: '256',
    });
  const find = (tree: TreeTask[], title: string) => tree.find((task) => task.title === title);
  const textsOf = (tree: TreeTask[], title: string) =>
    eventsOf(find(tree, title), 'tool.called').map(({ payload }) => String(payload['text']));

  it('share the one of their user, each in a folder of its own, and hand files over by their path', async (context) => {
    context.skip(!hasImage, `there is no image in ${IMAGES}: vitto image build minimal`);
    const { call, deploy, finish } = await startWithVms();
    const rootId = await deploy('share');
    const tree = await finish(rootId);
    const [parent, ...children] = tree;
    expect(children.map(({ state }) => state)).toEqual(['completed', 'completed', 'completed']);
    const acquired = eventsOf(parent, 'subvitto.vm_acquired').map(({ payload }) => payload);
    expect(new Set(acquired.map(({ id }) => id))).toEqual(new Set(children.map(({ id }) => id)));
    expect(new Set(acquired.map(({ vmId }) => vmId)).size).toBe(1);
    const { body } = await call<SandboxOverview>('GET', '/api/sandbox');
    expect(body.sandboxes).toMatchObject([{ id: acquired[0]?.['vmId'], state: 'running', claims: [] }]);
    expect(await countMachines(home)).toBe(1);

    const folderOf = (title: string) => `/home/user/work/${find(tree, title)?.id ?? ''}`;
    const handed = `${folderOf('hands over')}/out.txt`;
    expect(textsOf(tree, 'hands over')[1]).toContain(`${folderOf('hands over')}\n${handed}\nout.txt`);
    expect(textsOf(tree, 'takes')[0]).toContain('from the first');
    expect(textsOf(tree, 'takes')[2]).toContain(`${folderOf('takes')}\nfrom the secondfrom the first`);
    expect(textsOf(tree, 'works beside')[1]).toContain(`${folderOf('works beside')}\nfrom the third`);
    expect(textsOf(tree, 'hands over').join()).not.toContain('from the third');

    const recent = (await finish(await deploy('look')))[1];
    const id = body.sandboxes[0]?.id ?? '';
    const stranger = newId();
    const put = await call<{ exitCode: number }>('POST', `/api/sandbox/${id}/exec`, {
      command: `cd /home/user/work && mkdir mine && echo keep > mine/a && echo keep > note.txt && mkdir ${stranger}`,
    });
    expect(put).toMatchObject({ status: 200, body: { exitCode: 0 } });
    await test.database.pool.query(
      "update vitto_tasks set ended_at = now() - interval '25 hours' where id = $1",
      [rootId],
    );
    expect((await call('POST', `/api/sandbox/${id}/snapshot`)).status).toBe(204);

    const later = await finish(await deploy('look'));
    expect(eventsOf(later[0], 'subvitto.vm_acquired')).toMatchObject([
      { payload: { vmId: id, from: 'user-snapshot', restored: true } },
    ]);
    const seen = textsOf(later, 'looks')[0] ?? '';
    for (const { id: old } of children) expect(seen).not.toContain(old);
    for (const kept of [recent?.id, later[1]?.id, stranger, 'mine', 'note.txt']) {
      expect(seen.split('\n')).toContain(kept);
    }
  }, 600_000);

  it('say on their parent why they have none where the process sandbox will do', async (context) => {
    const { call, deploy, finish } = await start({});
    context.skip(!(await hasSandbox(call)), 'there is no sandbox on this machine');
    const [parent, child] = await finish(await deploy('look'));
    expect(child?.state).toBe('completed');
    expect(eventsOf(parent, 'subvitto.vm_degraded')).toMatchObject([
      {
        payload: {
          id: child?.id,
          fallbackTier: 'process-sandbox',
          reason: expect.stringMatching(/VM/),
        },
      },
    ]);
    expect(eventsOf(parent, 'subvitto.vm_acquired')).toEqual([]);
  });

  it('ask once for the process sandbox, whatever was deployed and whenever it begins', async (context) => {
    const { call, deploy, finish } = await start({ VITTO_VM_DEGRADE: 'ask' });
    context.skip(!(await hasSandbox(call)), 'there is no sandbox on this machine');
    const rootId = await deploy('three that ask');
    const pending = async () =>
      (await call<{ items: Approval[] }>('GET', '/api/approvals?state=pending')).body.items;
    await expect
      .poll(async () => (await pending()).length, { timeout: 60_000, interval: 50 })
      .toBeGreaterThanOrEqual(3);
    const [first] = await pending();
    const decided = await call('POST', `/api/approvals/${first?.id ?? ''}/decision`, {
      decision: 'approved',
    });
    expect(decided.status).toBe(200);
    const tree = await finish(rootId);
    const [, ...children] = tree;
    for (const child of children) {
      expect([child.title, child.state]).toEqual([child.title, 'completed']);
      expect(eventsOf(child, 'tool.called')).toMatchObject([
        { payload: { status: 'ok', ranOn: { kind: 'process-sandbox' } } },
      ]);
    }
    expect(new Set(eventsOf(tree[0], 'subvitto.vm_degraded').map(({ payload }) => payload['id']))).toEqual(
      new Set(children.map(({ id }) => id)),
    );
    // One that was at work already when the user decided, and one that had not begun, do not ask again.
    expect(eventsOf(find(tree, 'commands late'), 'approval.requested')).toEqual([]);
    expect(eventsOf(find(tree, 'commands last'), 'approval.requested')).toEqual([]);
    expect(await pending()).toEqual([]);
  });
});

async function hasSandbox(call: Awaited<ReturnType<typeof openClient>>['call']): Promise<boolean> {
  const { body } = await call<SystemStatus>('GET', '/api/system');
  return body.components.some((part) => part.name === 'sandbox' && part.state !== 'missing');
}

/** QEMU processes whose files are in this home. */
async function countMachines(home: string): Promise<number> {
  const root = chooseDataRoot({ home, uid: getuid?.() ?? -1 });
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(
    pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
  );
  return lines.filter((line) => /^[^\0]*qemu-system/.test(line) && line.includes(root)).length;
}
