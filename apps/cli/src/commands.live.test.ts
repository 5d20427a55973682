import { appendFileSync } from 'node:fs';
import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { EventEnvelope, Task } from '@vitto/contracts';
import * as event from './testing/events.ts';
import { FakeServer } from './testing/fake-server.ts';
import { runVitto, startVitto } from './testing/run-vitto.ts';

let server: FakeServer;
beforeEach(async () => {
  server = await new FakeServer().start();
});
afterEach(() => server.stop());

const NOWHERE = { url: 'http://127.0.0.1:9' };

test.each([['tasks'], ['chat', 'hi'], ['tail'], ['show', 'abcd'], ['approve']])(
  'without a server %s exits with 3 and says how to start it',
  async (...args: string[]) => {
    const run = await runVitto(args, NOWHERE);
    expect(run).toMatchObject({ code: 3, stdout: '' });
    expect(run.stderr).toMatch(/^Cannot reach Vitto at http:\/\/127\.0\.0\.1:9.*\n.*vitto start.*\n$/);
  },
);

test('through npm the hints and the help name what can be typed there', async () => {
  const env = { npm_lifecycle_event: 'vitto' };
  expect((await runVitto(['tasks'], { ...NOWHERE, env })).stderr).toContain('Start it with "npm start"');
  expect((await runVitto(['tasks'], { url: server.url, env })).stderr).toContain(
    'Begin one with: npm run vitto -- chat "…"',
  );
  expect((await runVitto(['chat', '--help'], { env })).stdout).toContain('Usage: npm run vitto -- chat');
});

test('with --json an error is a JSON line on stderr and stdout is empty', async () => {
  const run = await runVitto(['tasks', '--json'], NOWHERE);
  expect(run.stdout).toBe('');
  expect(JSON.parse(run.stderr)).toMatchObject({ error: { code: 'cli.unreachable' } });
});

test('without a token exits with 4, and the token file of this machine signs in', async () => {
  server.token = 'secret-token';
  const refused = await runVitto(['tasks'], server);
  expect(refused).toMatchObject({ code: 4, stdout: '' });
  expect(refused.stderr).toContain('VITTO_TOKEN');

  const home = await mkdtemp(join(tmpdir(), 'vitto-cli-'));
  await writeFile(join(home, 'cli-token'), 'secret-token\n');
  expect(await runVitto(['tasks'], { url: server.url, env: { VITTO_HOME: home } })).toMatchObject({
    code: 0,
  });
  expect(await runVitto(['tasks', '--token', 'secret-token'], server)).toMatchObject({ code: 0 });
});

test('without an address the server that this home names is found', async () => {
  const home = await mkdtemp(join(tmpdir(), 'vitto-cli-'));
  await writeFile(join(home, 'cli-token'), 'secret-token\n');
  await writeFile(join(home, 'server-address'), `${server.url}\n`);
  server.token = 'secret-token';
  const env = { VITTO_HOME: home };
  expect(await runVitto(['tasks'], { env })).toMatchObject({ code: 0 });

  await server.stop();
  const late = await runVitto(['tasks'], { env });
  expect(late.code).toBe(3);
  expect(late.stderr).toContain(`Cannot reach Vitto at ${server.url}`);
  await server.start();
});

test.each([
  [['nonsense']],
  [['tasks', '--limit', '0']],
  [['tasks', '--state', 'x']],
  [['show']],
  [['chat', '']],
  [['cancel', 'xyz!']],
])('bad usage %j exits with 2, without a stack trace', async (args) => {
  const run = await runVitto(args, server);
  expect(run).toMatchObject({ code: 2, stdout: '' });
  expect(run.stderr).not.toMatch(/\n\s+at /);
});

test('help and version exit with 0', async () => {
  expect(await runVitto(['--version'])).toMatchObject({ code: 0, stdout: '0.1.0\n' });
  expect((await runVitto(['chat', '--help'])).stdout).toContain('--max-cost');
});

test('tasks lists whole ids for programs, and one JSON document with --json', async () => {
  const task = server.addTask({ title: 'mend\n\x1b[31mthe tests', spending: { ...event.noSpending } });
  const list = await runVitto(['tasks'], server);
  expect(list.stdout).toBe(`${task.id}  running  just now  cost unknown  mend the tests\n`);
  const document = await runVitto(['tasks', '--json'], server);
  expect(JSON.parse(document.stdout)).toMatchObject({ items: [{ id: task.id }] });
});

test('show tells the story of a task found by the end of its id', async () => {
  const task = server.addTask({ state: 'completed', result: 'All is well.' });
  server.emit(task.id, event.toolStarting('c', 'read_file', { path: 'a.txt' }));
  server.emit(task.id, event.toolCalled('c', 'read_file'));
  server.emit(task.id, event.turnCompleted('All is well.'));
  const run = await runVitto(['show', task.id.slice(-8)], server);
  expect(run.code).toBe(0);
  expect(run.stdout).toContain('✓ read a.txt · 0.3 s');
  expect(run.stdout).toContain('1. anthropic/claude-test · 15 tokens · cost unknown · 0.9 s');
  expect(run.stdout).toContain('All is well.');
  const raw = await runVitto(['show', task.id, '--raw'], server);
  expect(
    raw.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as EventEnvelope),
  ).toEqual(server.events);
});

test('a part that fits several tasks lists them and exits with 2', async () => {
  const ids = ['11111111-0000-7000-8000-000000000001', '11111111-0000-7000-8000-000000000002'];
  for (const id of ids) server.addTask({ id });
  const run = await runVitto(['cancel', '1111'], server);
  expect(run.code).toBe(2);
  for (const id of ids) expect(run.stderr).toContain(id);
  expect(server.requests('POST', '/api/tasks')).toEqual([]);
});

test('cancel stops a task and says which', async () => {
  const task = server.addTask({ title: 'long work' });
  const run = await runVitto(['cancel', task.id.slice(0, 8)], server);
  expect(run).toEqual({ code: 0, stdout: 'Cancelled: long work\n', stderr: '' });
});

test('approve lists what would run, and decides on exactly that', async () => {
  const approval = event.newApproval(server.addTask().id, { command: 'rm \u202e-rf /' });
  server.approvals.push(approval);
  const list = await runVitto(['approve'], server);
  expect(list.stdout).toContain('command: rm ⟨U+202E⟩-rf /');
  const run = await runVitto(['approve', approval.id.slice(0, 6), '--refuse', '--note', 'not here'], server);
  expect(run).toMatchObject({ code: 0, stdout: 'Refused. The task is told.\n' });
  const body = { decision: 'refused', note: 'not here', argumentsHash: approval.argumentsHash };
  expect(server.requests('POST', '/api/approvals')[0]?.body).toEqual(body);
});

test('tail of a task shows it from its beginning, ends with it, and its exit code tells', async () => {
  const task = server.addTask();
  server.emit(task.id, event.completed('done', false));
  const run = await runVitto(['tail', task.id], server);
  expect(run.code).toBe(1);
  expect(run.stdout).toContain('task.completed  not achieved · 1 step');
});

test('tail of everything begins now, and Ctrl-C ends it', async () => {
  const task: Task = server.addTask();
  server.emit(task.id, event.text('old'));
  const vitto = startVitto(['tail', '--json'], server);
  const streams = () => server.received.filter(({ headers }) => headers.accept === 'text/event-stream');
  await expect.poll(streams, { timeout: 30_000 }).toHaveLength(1);
  server.emit(task.id, event.text('new'));
  await vitto.sees('new');
  vitto.child.kill('SIGINT');
  const run = await vitto.finished;
  expect(run.code).toBe(130);
  expect(run.stdout).not.toContain('old');
});

test('record names the file and the models, and will not overwrite a file', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'vitto-cli-'));
  const file = join(folder, 'run.jsonl');
  server.onTask = (task) => server.emit(task, event.completed('done'));
  expect((await runVitto(['record', '-o', file, '--model', 'a/b', 'go'], server)).code).toBe(0);
  expect(server.requests('POST', '/api/tasks')[0]?.body['model']).toBe(`record:${file},a/b`);
  await writeFile(file, 'kept');
  expect((await runVitto(['record', '-o', file, 'go'], server)).code).toBe(2);
  expect(await readFile(file, 'utf8')).toBe('kept');
});

test('what was recorded with folders is replayed with them, unless others are named', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'vitto-cli-'));
  const file = join(folder, 'run.jsonl');
  const prompt = [{ role: 'user', content: [{ type: 'text', text: 'count' }] }];
  server.onTask = (task) => {
    if (server.tasks.length === 1) appendFileSync(file, `${JSON.stringify({ request: { prompt } })}\n`);
    server.emit(task, event.completed('done'));
  };
  expect((await runVitto(['record', '-o', file, '--path', folder, 'count'], server)).code).toBe(0);
  const again = await runVitto(['replay', file], server);
  expect(again.code).toBe(0);
  expect(again.stderr).toContain(`may read ${folder}`);
  expect((await runVitto(['replay', file, '--path', '/usr'], server)).code).toBe(0);
  const asked = server
    .requests('POST', '/api/tasks')
    .map(({ body }) => [body['prompt'], body['allowedPaths']]);
  expect(asked).toEqual([
    ['count', [folder]],
    ['count', [folder]],
    ['count', ['/usr']],
  ]);
});

test('a recording whose task was not taken leaves no file behind', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'vitto-cli-'));
  const args = ['record', '-o', join(folder, 'run.jsonl'), '--path', folder, 'go'];
  expect((await runVitto(args, NOWHERE)).code).toBe(3);
  expect(await readdir(folder)).toEqual([]);
});

test('replay asks what was recorded, and a divergence shows both sides and exits with 1', async () => {
  const file = join(await mkdtemp(join(tmpdir(), 'vitto-cli-')), 'run.jsonl');
  const prompt = [
    { role: 'system', content: 'You are Vitto.' },
    { role: 'user', content: [{ type: 'text', text: 'count to 3' }] },
  ];
  await writeFile(file, `${JSON.stringify({ version: 1, request: { prompt } })}\n`);
  const sides = 'at prompt[1]\n--- recorded ---\ncount to 3\n--- now ---\ncount to 4';
  server.onTask = (task) => server.emit(task, event.failed('model.divergence', `It differs ${sides}`));
  const run = await runVitto(['replay', file], server);
  expect(run.code).toBe(1);
  expect(run.stderr).toContain(sides);
  expect(server.requests('POST', '/api/tasks')[0]?.body).toEqual({
    prompt: 'count to 3',
    model: `replay:${file}`,
  });
});

test('doctor says that the server is down and exits with 1', async () => {
  const run = await runVitto(['doctor', '--json'], NOWHERE);
  expect(run.code).toBe(1);
  const { components } = JSON.parse(run.stdout) as { components: { name: string; state: string }[] };
  expect(components).toContainEqual(expect.objectContaining({ name: 'server', state: 'down' }));
  expect(components).toContainEqual(
    expect.objectContaining({ name: 'model', detail: expect.stringContaining('keys entered in the app') }),
  );
});

test('doctor tells the models that a running server has, not those of its own environment', async () => {
  server.components.push({ name: 'model', state: 'ok', detail: 'openai/of-the-app' });
  const run = await runVitto(['doctor', '--json'], server);
  const { components } = JSON.parse(run.stdout) as { components: { name: string }[] };
  expect(components.filter(({ name }) => name === 'model')).toEqual([
    { name: 'model', state: 'ok', detail: 'openai/of-the-app', source: 'server' },
  ]);
});
