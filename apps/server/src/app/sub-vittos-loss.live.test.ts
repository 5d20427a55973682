import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { McpServer, Task } from '@vitto/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createStub, isAlive, type Stub } from '../extensions/mcp/testing/stub.ts';
import { createTestDatabase } from '../kernel/database/testing.ts';
import { checkEndedTree, eventsOf, readTree, watchPlaces, type TreeTask } from './testing/task-tree.ts';
import {
  openClient,
  removeTestFolder,
  startVittoProcess,
  type VittoProcess,
} from './testing/vitto-process.ts';

const note = (text: string) => `calls: [{ tool: mcp__notes__a-notes, arguments: { text: "${text}" } }]`;
const inProcess = (name: string, more = '') => `{ description: '${name}', tier: in-process${more} }`;
const ROUND = ['steady a', 'fails', 'stalls', 'stopped', 'steady b', 'spends', 'steady c', 'steady d'];

/** Each step notes something outside that nothing may note twice. */
const SCRIPT = `conversations:
  - on: /budget is used up/
    turns: [{ text: This is how far I came. }]
  - on: /^one round/
    turns:
      - calls: [{ tool: deploy_agents, arguments: { tasks: [${ROUND.map((name) => inProcess(name)).join(', ')}] } }]
      - text: All are read.
  - on: /^many rounds (\\w+)/
    turns:
      - capture: { round: '/^many rounds (\\w+)/' }
        calls: [{ tool: deploy_agents, arguments: { tasks: [${[
          inProcess('brief {{round}}-a'),
          inProcess('nests {{round}}-b'),
          inProcess('brief {{round}}-c'),
          inProcess('brief {{round}}-d', ', dependsOn: [0]'),
        ].join(', ')}] } }]
      - text: All are read.
  - on: /^nests (\\S+)/
    turns:
      - capture: { name: '/^nests (\\S+)/' }
        ${note('{{name}} 1')}
      - calls: [{ tool: deploy_agents, arguments: { tasks: [{ description: 'leaf {{name}}-x', tools: [mcp__notes__a-notes] }, { description: 'leaf {{name}}-y', tools: [mcp__notes__a-notes] }] } }]
      - text: "{{name}} is done."
  - on: /^(?:brief|leaf) (\\S+)/
    turns:
      - { delayMs: 60, capture: { name: '/^(?:brief|leaf) (\\S+)/' }, ${note('{{name}} 1')} }
      - { delayMs: 60, ${note('{{name}} 2')} }
      - text: "{{name}} is done."
  - on: /^steady (\\w)/
    turns:
${Array.from({ length: 6 }, (_, n) => `      - { delayMs: 150, ${n === 0 ? "capture: { name: '/^steady (\\w)/' }, " : ''}${note(`steady {{name}} ${n + 1}`)} }`).join('\n')}
      - text: "steady {{name}} is done."
  - on: /^fails/
    turns: [{ ${note('fails 1')} }, { text: never, faults: [{ status: 400, message: "no such thing" }] }]
  - on: /^stalls/
    turns: [{ ${note('stalls 1')} }, { text: never, faults: [{ kind: stall }, { kind: stall }, { kind: stall }] }]
  - on: /^stopped/
    turns: [{ ${note('stopped 1')} }, { delayMs: 600000, text: never }]
  - on: /^spends/
    turns:
${Array.from({ length: 20 }, (_, n) => `      - { ${note(`spends ${n + 1}`)} }`).join('\n')}
`;

describe('worker processes that are killed while sub-Vittos work', () => {
  let folder: string;
  let home: string;
  let script: string;
  let base: Record<string, string>;
  let stub: Stub;
  let test: Awaited<ReturnType<typeof createTestDatabase>>;
  let call: Awaited<ReturnType<typeof openClient>>['call'];
  let readMostRunning: () => Promise<number>;
  const processes: VittoProcess[] = [];

  const start = async (roles: string) => {
    const one = await startVittoProcess({ ...base, VITTO_ROLES: roles });
    processes.push(one);
    return one;
  };
  const deploy = async (prompt: string, budget = {}) => {
    const request = { prompt, budget, model: `script:${script}` };
    const { status, body } = await call<Task>('POST', '/api/tasks', request);
    expect(status, JSON.stringify(body)).toBe(201);
    return body.id;
  };
  const stateOf = async (id: string) => (await call<Task>('GET', `/api/tasks/${id}`)).body.state;
  const tree = (rootId: string) => readTree(test.database.pool, rootId);
  const childOf = async (rootId: string, title: string) =>
    (await tree(rootId)).find((task) => task.title === title) as TreeTask;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'vitto-sub-vittos-'));
    home = join(folder, 'home');
    script = join(folder, 'script.yaml');
    await writeFile(script, SCRIPT);
    test = await createTestDatabase();
    readMostRunning = await watchPlaces(test.database.pool);
    base = {
      DATABASE_URL: test.url,
      VITTO_HOME: home,
      HOME: folder,
      VITTO_SUBVITTO_DEFAULT_ITERATIONS: '14',
    };
    stub = await createStub('notes');
    const server = await start('server');
    ({ call } = await openClient(server.url ?? '', home));
    const request = { name: 'notes', transport: stub.transport, domain: 'knowledge', risk: 'write' };
    const { id } = (await call<McpServer>('POST', '/api/mcp-servers', request)).body;
    const { offeredHash } = (await call<McpServer>('POST', `/api/mcp-servers/${id}/check`, {})).body;
    await call('POST', `/api/mcp-servers/${id}/approve`, { offeredHash });
  });
  afterAll(async () => {
    await Promise.all(processes.map((one) => one.end('SIGKILL')));
    for (const pid of stub.pids().filter(isAlive)) process.kill(pid, 'SIGKILL');
    await stub.remove();
    await test.drop();
    await removeTestFolder(folder, home);
  });

  it('leave a truthful list: what could finish has, and nothing was done twice', async () => {
    const workers = [await start('worker'), await start('worker')];
    // A sub-Vitto may take as long as its parent has left: the one that stalls ends by that.
    const rootId = await deploy('one round', { maxDurationMs: 45_000 });
    const notesOf = (name: string) => stub.notes().filter((line) => line.startsWith(name)).length;
    await expect.poll(() => notesOf('steady a'), { timeout: 60_000, interval: 20 }).toBeGreaterThanOrEqual(2);
    const { rows } = await test.database.pool.query(
      `select p.pid from vitto_tasks t join vitto_processes p on p.id = t.lease_holder
       where t.root_id = $1 and t.title like 'steady%' order by t.title limit 1`,
      [rootId],
    );
    const killed = workers.find((one) => one.child.pid === (rows[0] as { pid: number }).pid);
    await killed?.end('SIGKILL');
    expect(killed).toBeDefined();

    await expect.poll(() => notesOf('stopped'), { timeout: 60_000 }).toBe(1);
    const stopped = await childOf(rootId, 'stopped');
    const cancelled = await call<Task>('POST', `/api/tasks/${stopped.id}/cancel`);
    expect(cancelled.body.state).toBe('cancelled');

    await expect.poll(() => stateOf(rootId), { timeout: 150_000, interval: 300 }).toBe('completed');
    const ended = await tree(rootId);
    checkEndedTree(ended);
    const [root, ...children] = ended;
    expect(children.map(({ title, state, code }) => [title, state, code])).toEqual([
      ['steady a', 'completed', null],
      ['fails', 'failed', 'model.bad-request'],
      ['stalls', 'failed', 'budget.duration-exceeded'],
      ['stopped', 'cancelled', null],
      ['steady b', 'completed', null],
      ['spends', 'failed', 'budget.iterations-exceeded'],
      ['steady c', 'completed', null],
      ['steady d', 'completed', null],
    ]);
    const list = String(eventsOf(root, 'tool.called')[0]?.payload['text']);
    expect(list.split('\n')[0]).toBe('8 sub-Vittos: 4 completed, 2 failed, 1 timed out, 1 cancelled.');
    expect([...list.matchAll(/^\d+\. agent \(in-process\): (.+?) after/gm)].map(([, how]) => how)).toEqual([
      'completed',
      'failed',
      'timed out',
      'cancelled',
      'completed',
      'failed',
      'completed',
      'completed',
    ]);
    for (const child of children) expect(list).toContain(child.id);
    const notes = stub.notes();
    expect(new Set(notes).size).toBe(notes.length);
    // The calls that were under way when their worker died are said to be unknown, and are not repeated.
    const unknown = children.flatMap((child) =>
      eventsOf(child, 'tool.called').filter(({ payload }) => payload['status'] === 'unknown'),
    );
    expect(notes.filter((line) => line.startsWith('steady')).length).toBeGreaterThanOrEqual(
      24 - unknown.length,
    );
    const resumed = children.filter((child) => eventsOf(child, 'task.resumed').length > 0);
    expect(resumed.length).toBeGreaterThanOrEqual(1);
    expect(await readMostRunning()).toBe(5);
    for (const one of workers.filter((worker) => worker !== killed)) expect(await one.end()).toBe(0);
  }, 300_000);

  const MOMENTS = [
    'orchestrator.round',
    'task.parked',
    'subvitto.completed',
    'task.queued',
    'subvitto.spawned',
  ];
  it('go on wherever they died: ten times, at any moment', async () => {
    const seed = Date.now();
    const random = createRandom(seed);
    for (let round = 0; round < 10; round += 1) {
      const moment = MOMENTS[round % MOMENTS.length] ?? '';
      const delayMs = Math.floor(random() * 250);
      const where = `seed ${seed}, round ${round}: ${delayMs} ms after ${moment}`;
      const worker = await start('worker');
      const rootId = await deploy(`many rounds r${round}`);
      const skipped = moment === 'task.queued' ? 1 : 0;
      const seen = async () => eventsOf((await tree(rootId))[0], moment).length > skipped;
      await expect.poll(seen, { message: where, timeout: 60_000, interval: 10 }).toBe(true);
      await new Promise((resolve) => setTimeout(resolve, delayMs));
      await worker.end('SIGKILL');

      const next = await start('worker');
      await expect
        .poll(() => stateOf(rootId), { timeout: 90_000, interval: 100 })
        .toBe('completed')
        .catch(async (error: unknown) => {
          const left = (await tree(rootId)).map((task) => [
            task.title,
            task.state,
            ...task.events.slice(-3).map(({ type, payload }) => `${type} ${JSON.stringify(payload)}`),
          ]);
          throw new Error(`${where}: ${JSON.stringify(left, null, 1)}\n${next.output()}`, { cause: error });
        });
      const ended = await tree(rootId);
      try {
        checkEndedTree(ended);
        expect(ended.map(({ title, state, code }) => [title, state, code])).toEqual(
          ended.map(({ title }) => [title, 'completed', null]),
        );
        expect(ended).toHaveLength(7);
        const notes = stub.notes();
        expect(new Set(notes).size).toBe(notes.length);
        expect(await readMostRunning()).toBeLessThanOrEqual(5);
        expect(await next.end()).toBe(0);
      } catch (error) {
        throw new Error(`${where}\n${next.output()}`, { cause: error });
      }
    }
  }, 600_000);
});

/** Moments that can be had again from the seed that a failure names. */
function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
