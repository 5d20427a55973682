import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SentMessage, Task } from '@vitto/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApiToken } from '../identity/index.ts';
import { createTestDatabase } from '../kernel/database/testing.ts';
import { newId } from '../kernel/ids.ts';
import { checkEndedTree, eventsOf, readTree } from './testing/task-tree.ts';
import {
  createClient,
  openClient,
  removeTestFolder,
  startVittoProcess,
  type VittoProcess,
} from './testing/vitto-process.ts';

const inProcess = (name: string) => `{ description: ${name}, tier: in-process }`;
/** `listens` works on until it is told something; `waits` would take an hour. */
const SCRIPT = `conversations:
  - on: /^three/
    turns:
      - calls: [{ tool: deploy_agents, arguments: { tasks: [${['listens', 'waits one', 'waits two'].map(inProcess).join(', ')}] } }]
      - text: All are read.
  - on: /^listens/
    turns:
${Array.from(
  { length: 9 },
  () => `      - when:
          - { if: { user: /green light/ }, turns: [{ text: I saw the green light. }] }
          - turns: [{ delayMs: 500, calls: [{ tool: query_system_status, arguments: {} }] }]`,
).join('\n')}
  - on: /^waits/
    turns: [{ delayMs: 3600000, text: never }]
`;

type Client = ReturnType<typeof createClient>;
type TaskPage = { items: Task[] };

describe('people and their sub-Vittos over HTTP', () => {
  let folder: string;
  let home: string;
  let test: Awaited<ReturnType<typeof createTestDatabase>>;
  let vitto: VittoProcess;
  let call: Client['call'];
  let stranger: Client['call'];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'vitto-sub-http-'));
    home = join(folder, 'home');
    await writeFile(join(folder, 'script.yaml'), SCRIPT);
    test = await createTestDatabase();
    vitto = await startVittoProcess({ DATABASE_URL: test.url, VITTO_HOME: home, HOME: folder });
    ({ call } = await openClient(vitto.url ?? '', home));
    const id = newId();
    await test.database.pool.query(
      "insert into vitto_users (id, name, role) values ($1, 'Stranger', 'member')",
      [id],
    );
    const { token } = await createApiToken(test.database, id, { name: 'test' });
    stranger = createClient(vitto.url ?? '', token).call;
  });
  afterAll(async () => {
    expect(await vitto.end('SIGTERM')).toBe(0);
    await test.drop();
    await removeTestFolder(folder, home);
  });

  const deploy = async () => {
    const model = `script:${join(folder, 'script.yaml')}`;
    const { body: root } = await call<Task>('POST', '/api/tasks', { prompt: 'three', model });
    const list = async () => (await call<TaskPage>('GET', `/api/tasks?rootId=${root.id}`)).body.items;
    const isAtWork = async () => (await list()).filter(({ state }) => state === 'running').length === 3;
    await expect.poll(isAtWork, { timeout: 60_000, interval: 50 }).toBe(true);
    const [listens, one, two] = (await list())
      .filter(({ parentId }) => parentId === root.id)
      .sort((a, b) => (a.index ?? 0) - (b.index ?? 0)) as [Task, Task, Task];
    return { root, listens, one, two, list };
  };
  const stateOf = async (id: string) => (await call<Task>('GET', `/api/tasks/${id}`)).body.state;

  it('steer one, which reads it at its next step; stop one, and the others go on', async () => {
    const { root, listens, one, two, list } = await deploy();
    const sent = await call<SentMessage>('POST', `/api/tasks/${listens.id}/messages`, {
      text: 'green light',
    });
    expect(sent).toMatchObject({ status: 202, body: { taskId: listens.id, outcome: 'steered' } });
    await expect.poll(() => stateOf(listens.id), { timeout: 60_000 }).toBe('completed');

    const cancelled = await call<Task>('POST', `/api/tasks/${one.id}/cancel`, { reason: 'not needed' });
    expect(cancelled.body).toMatchObject({ state: 'cancelled' });
    expect(await stateOf(two.id)).toBe('running');
    expect(await stateOf(root.id)).toBe('waiting_children');
    expect(await call('POST', `/api/tasks/${one.id}/messages`, { text: 'still there?' })).toMatchObject({
      status: 409,
      body: { code: 'task.ended' },
    });

    expect((await call<Task>('POST', `/api/tasks/${two.id}/cancel`)).status).toBe(200);
    await expect.poll(() => stateOf(root.id), { timeout: 60_000 }).toBe('completed');
    const tree = await readTree(test.database.pool, root.id);
    checkEndedTree(tree);
    const heard = tree.find(({ id }) => id === listens.id);
    const told = eventsOf(heard, 'user.message').at(-1);
    expect(told?.payload).toMatchObject({ text: 'green light' });
    // Nothing is asked of the model between the message and the turn that has read it, but the one under way.
    const after = eventsOf(heard, 'agent.iteration').filter(({ seq }) => seq > (told?.seq ?? 0));
    expect(after.length).toBeGreaterThanOrEqual(1);
    expect(after.length).toBeLessThanOrEqual(2);
    const result = eventsOf(tree[0], 'tool.called')[0]?.payload['text'];
    expect(result).toContain('I saw the green light.');
    expect(result).toContain('3 sub-Vittos: 1 completed, 2 cancelled.');
    expect((await list()).map(({ id }) => id).sort()).toEqual(tree.map(({ id }) => id).sort());
  });

  it('end all of them with the task that deployed them', async () => {
    const { root, list } = await deploy();
    expect((await call<Task>('POST', `/api/tasks/${root.id}/cancel`)).body.state).toBe('cancelled');
    expect((await list()).map(({ state }) => state)).toEqual(Array.from({ length: 4 }, () => 'cancelled'));
    // The workers that ran them have let go: nothing is written to them any more.
    const tree = await readTree(test.database.pool, root.id);
    checkEndedTree(tree);
    expect((await call<Task>('POST', `/api/tasks/${root.id}/cancel`)).status).toBe(200);
    expect(await readTree(test.database.pool, root.id)).toEqual(tree);
  });

  it('are nobody else’s', async () => {
    const { root, one, list } = await deploy();
    for (const { id } of [root, one]) {
      for (const [method, path, body] of [
        ['GET', '', undefined],
        ['GET', '/events', undefined],
        ['POST', '/cancel', undefined],
        ['POST', '/messages', { text: 'green light' }],
      ] as const) {
        const answer = await stranger(method, `/api/tasks/${id}${path}`, body);
        expect([method, path, answer.status]).toEqual([method, path, 404]);
      }
    }
    expect((await stranger<TaskPage>('GET', `/api/tasks?rootId=${root.id}`)).body.items).toEqual([]);
    expect((await list()).filter(({ state }) => state === 'running')).toHaveLength(3);
    await call('POST', `/api/tasks/${root.id}/cancel`);
  });
});
