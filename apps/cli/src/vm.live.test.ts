import { once } from 'node:events';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ended, execFrame } from './testing/fake-sandboxes.ts';
import { FakeServer } from './testing/fake-server.ts';
import { runVitto, startVitto } from './testing/run-vitto.ts';

let server: FakeServer;
beforeEach(async () => {
  server = await new FakeServer().start();
});
afterEach(() => server.stop());

const vitto = (...args: string[]) => runVitto(['vm', ...args], server);
const OTHER = '33333333-0000-7000-8000-000000000003';

test('ls shows how each machine came and what runs there, and one JSON document with --json', async () => {
  const since = new Date().toISOString();
  const command = 'make\n\u001b[31mall';
  server.sandboxes.add({ commands: [{ taskId: null, command, since }] });
  const list = await vitto();
  expect(list.stdout).toMatch(
    /running +developer +just now +211 MB +64 KB +– +restored from your snapshot in 0\.4 s +make all \(0\.\d s\)\n$/,
  );
  expect(list.stdout).not.toContain('\u001b');
  expect(JSON.parse((await vitto('ls', '--json')).stdout)).toMatchObject({
    sandboxes: [{ state: 'running' }],
  });
});

test('without machines ls says when one is made, and why none can be had', async () => {
  server.sandboxes.hosts.push({
    ...{ id: 'h', name: 'host-1', url: null, isReachable: true, provider: 'none', accelerator: null },
    ...{ version: null, reason: 'QEMU is not installed.', hint: 'Install it.', running: 0, waiting: 0 },
    ...{ maxConcurrent: 0, memory: null, images: [] },
  });
  const run = await vitto('ls');
  expect(run).toMatchObject({ code: 0, stdout: '' });
  expect(run.stderr).toContain('One is made when a task first needs it.');
  expect(run.stderr).toContain('host-1: QEMU is not installed. Install it.');
});

test('exec keeps both outputs apart, byte for byte, and gives the exit code', async () => {
  server.sandboxes.add({});
  server.sandboxes.add({ id: OTHER, userId: OTHER });
  server.sandboxes.onExec = (response) => {
    response.write(': still here\n\n');
    response.write(execFrame('stdout', 'one \u001b[1m'));
    response.write(execFrame('stderr', 'two'));
    response.end(ended({ exitCode: 7 }));
  };
  const run = await vitto('exec', '--cwd', '/tmp', '--timeout', '2.5', '--', 'printf', 'a b');
  expect(run).toEqual({ code: 7, stdout: 'one \u001b[1m', stderr: 'two' });
  const [request] = server.requests('POST', '/api/sandbox');
  expect(request?.path).toContain('11111111-');
  expect(request?.body).toEqual({ command: "printf 'a b'", cwd: '/tmp', timeoutMs: 2500 });
});

test('exec hands on what is piped in when it is told to', async () => {
  server.sandboxes.add({});
  server.sandboxes.onExec = (response) => response.end(ended());
  const run = await runVitto(['vm', 'exec', '-i', '--', 'wc -c'], {
    ...server,
    url: server.url,
    input: 'ñu',
  });
  expect(run.code).toBe(0);
  expect(server.requests('POST', '/api/sandbox')[0]?.body).toEqual({ command: 'wc -c', stdin: 'ñu' });
});

test.each([
  [{ exitCode: null, signal: 'SIGKILL' }, 137, 'SIGKILL'],
  [{ exitCode: null, timedOut: true }, 124, '--timeout'],
])('a command that ended as %j exits with %i', async (result, code, words) => {
  server.sandboxes.add({});
  server.sandboxes.onExec = (response) => response.end(ended(result));
  const run = await vitto('exec', '--', 'x');
  expect(run.code).toBe(code);
  expect(run.stderr).toContain(words);
});

test('a refusal is told with its hint, and an answer that breaks off is no success', async () => {
  server.sandboxes.add({});
  const refusal = { type: 'x', title: 'No VM.', status: 503, code: 'sandbox.unavailable', hint: 'Build it.' };
  server.sandboxes.onExec = (response) => response.end(execFrame('problem', refusal));
  expect(await vitto('exec', '--', 'x')).toMatchObject({ code: 1, stderr: 'No VM.\nBuild it.\n' });
  server.sandboxes.onExec = (response) => response.end(execFrame('stdout', 'half'));
  expect(await vitto('exec', '--', 'x')).toMatchObject({ code: 3, stdout: 'half' });
});

test('Ctrl-C goes away from the command, which the server then ends', async () => {
  server.sandboxes.add({});
  const gone = new Promise<void>((resolve) => {
    server.sandboxes.onExec = (response) => {
      response.write(execFrame('stdout', 'begun\n'));
      void once(response, 'close').then(() => resolve());
    };
  });
  const running = startVitto(['vm', 'exec', '--', 'sleep 600'], server);
  await running.sees('begun');
  running.child.kill('SIGINT');
  expect((await running.finished).code).toBe(130);
  await gone;
});

test('which machine: none, several, a part that fits none', async () => {
  expect(await vitto('exec', '--', 'x')).toMatchObject({ code: 2, stderr: expect.stringContaining('chat') });
  server.sandboxes.add({});
  server.sandboxes.add({ id: OTHER });
  const several = await vitto('exec', '--', 'x');
  expect(several.code).toBe(2);
  expect(several.stderr).toContain(OTHER);
  expect(await vitto('snapshot', 'ffff')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('vitto vm ls'),
  });
  expect(await vitto('exec', 'x', 'y')).toMatchObject({ code: 2, stderr: expect.stringContaining('--') });
});

test('snapshot suspends, destroy keeps the disk, and --forget is only done where it was meant', async () => {
  server.sandboxes.add({});
  expect(await vitto('snapshot')).toMatchObject({ code: 0, stdout: expect.stringContaining('suspended') });
  expect(await vitto('destroy')).toMatchObject({ code: 0, stdout: expect.stringContaining('disk is kept') });
  const unasked = await vitto('destroy', '--forget');
  expect(unasked).toMatchObject({ code: 5, stderr: expect.stringContaining('Every file in it is lost') });
  expect((await vitto('destroy', '1111', '--forget', '--yes')).code).toBe(0);
  const acts = server.requests('POST', '/api/sandbox').map(({ path }) => path.split('/').at(-1));
  expect(acts).toEqual(['snapshot', 'destroy', 'forget']);
});
