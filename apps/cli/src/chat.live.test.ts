import { afterEach, beforeEach, expect, test } from 'vitest';
import type { EventEnvelope } from '@vitto/contracts';
import * as event from './testing/events.ts';
import { FakeServer } from './testing/fake-server.ts';
import { runVitto, startVitto } from './testing/run-vitto.ts';

let server: FakeServer;
beforeEach(async () => {
  server = await new FakeServer().start();
});
afterEach(() => server.stop());

function answers(text: string): void {
  server.onTask = (task) => {
    for (const char of text) server.emit(task, event.text(char));
    server.emit(task, event.turnCompleted(text));
    server.emit(task, event.completed(text));
  };
}

test('a one-shot prints the answer on stdout, nothing else anywhere, and exits with 0', async () => {
  answers('I ran the tests; 2 fail.');
  const run = await runVitto(['chat', 'run the tests'], server);
  expect(run).toEqual({ code: 0, stdout: 'I ran the tests; 2 fail.\n', stderr: '' });
  const [sent] = server.requests('POST', '/api/tasks');
  expect(sent?.body).toEqual({ prompt: 'run the tests' });
  expect(sent?.headers['idempotency-key']).toMatch(/^[0-9a-f-]{36}$/);
});

test('text that is piped in is sent, and options become limits, paths and models', async () => {
  answers('ok');
  const args = [
    'chat',
    '--max-cost',
    '0.5',
    '--max-iterations',
    '7',
    '--path',
    '.',
    '--model',
    'script:s.yaml',
  ];
  const run = await runVitto(args, { url: server.url, input: 'from a pipe\n' });
  expect(run.code).toBe(0);
  expect(server.requests('POST', '/api/tasks')[0]?.body).toEqual({
    prompt: 'from a pipe\n',
    allowedPaths: [process.cwd()],
    model: `script:${process.cwd()}/s.yaml`,
    budget: { maxCostUsd: 0.5, maxIterations: 7 },
  });
});

test('a failed task exits with 1 and says what to do', async () => {
  server.onTask = (task) =>
    server.emit(task, event.failed('model.auth', 'The key was refused.', 'Set ANTHROPIC_API_KEY.'));
  const run = await runVitto(['chat', 'go'], server);
  expect(run).toEqual({ code: 1, stdout: '', stderr: 'The key was refused.\nSet ANTHROPIC_API_KEY.\n' });
});

test('a task that ends without success exits with 1', async () => {
  server.onTask = (task) => server.emit(task, event.completed('I could not do it.', false));
  const run = await runVitto(['chat', 'go'], server);
  expect(run).toMatchObject({ code: 1, stdout: 'I could not do it.\n' });
});

test('what an attempt said before it broke off is not in a pipe', async () => {
  server.onTask = (task) => {
    server.emit(task, event.text('The answer is 4'));
    const retry = { turn: 1, attempt: 1, model: 'm', reason: 'cut', delayMs: 1, message: 'cut' };
    server.emit(task, { type: 'model.retry', payload: retry });
    server.emit(task, event.text('It is 42.', 1, 2));
    server.emit(task, event.turnCompleted('It is 42.'));
    server.emit(task, event.completed('It is 42.'));
  };
  expect((await runVitto(['chat', 'go'], server)).stdout).toBe('It is 42.\n');
});

test('with --stream the text is written while the task still runs', async () => {
  server.onTask = (task) => server.emit(task, event.text('first words'));
  const vitto = startVitto(['chat', '--stream', 'go'], server);
  await vitto.sees('first words');
  const [task] = server.tasks;
  server.emit(task?.id ?? '', event.turnCompleted('first words'));
  server.emit(task?.id ?? '', event.completed('first words'));
  expect(await vitto.finished).toEqual({ code: 0, stdout: 'first words\n', stderr: '' });
});

test('what the last deltas left out is taken from the finished step', async () => {
  server.onTask = (task) => {
    server.emit(task, event.text('word by wo'));
    server.emit(task, event.turnCompleted('word by word.'));
    server.emit(task, event.completed('word by word.'));
  };
  expect((await runVitto(['chat', '--stream', 'go'], server)).stdout).toBe('word by word.\n');
});

test('nothing of the text reaches the terminal as a command', async () => {
  answers('\x1b]0;owned\x07safe\x1b[2J\x9b1A text');
  const live = await runVitto(['chat', '--stream', 'go'], server);
  const whole = await runVitto(['chat', 'go'], server);
  expect(live.stdout).toBe('safe text\n');
  expect(whole.stdout).toBe('safe text\n');
});

test('with --verbose cards, command output and the sum come on stderr', async () => {
  server.onTask = (task) => {
    server.emit(task, event.toolStarting('c', 'run_command', { command: 'npm test' }));
    server.emit(task, {
      type: 'tool.progress',
      payload: { callId: 'c', stream: 'stdout', text: '10%\r20%\r' },
    });
    server.emit(task, {
      type: 'tool.progress',
      payload: { callId: 'c', stream: 'stdout', text: '100%\nok' },
    });
    server.emit(task, event.toolCalled('c', 'run_command'));
    server.emit(task, event.turnCompleted('Done.', { model: 'script:demo.yaml' }));
    server.emit(task, event.completed('Done.'));
  };
  const run = await runVitto(['chat', '--verbose', 'go'], server);
  expect(run.stdout).toBe('Done.\n');
  expect(run.stderr).toBe(
    [
      '  │ 100%',
      '  │ ok',
      '✓ run npm test · 0.3 s',
      'Scripted: the answers come from script:demo.yaml, not from a live model.',
      '1 step · 1,234 tokens · cost unknown · 1.5 s at work · scripted',
      '',
    ].join('\n'),
  );
});

test('degraded work is said even where nobody reads along', async () => {
  server.onTask = (task) => {
    server.emit(task, {
      type: 'vm.degraded',
      payload: { reason: 'no KVM', fallbackTier: 'the process sandbox' },
    });
    server.emit(task, event.completed('Done.'));
  };
  expect((await runVitto(['chat', 'go'], server)).stderr).toBe(
    'Degraded: no VM (no KVM); it runs in the process sandbox.\n',
  );
});

test('with --json stdout has the events and nothing else', async () => {
  answers('hi');
  const run = await runVitto(['--json', 'chat', 'go'], server);
  const events = run.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as EventEnvelope);
  expect(events).toEqual(server.events);
  expect(run).toMatchObject({ code: 0, stderr: '' });
});

test('Ctrl-C cancels the task, waits for its end and exits with 130', async () => {
  server.onTask = (task) => server.emit(task, event.text('working'));
  const vitto = startVitto(['chat', '--stream', 'go'], server);
  await vitto.sees('working');
  vitto.child.kill('SIGINT');
  const run = await vitto.finished;
  expect(run).toEqual({ code: 130, stdout: 'working\n', stderr: 'Cancelled by cli.\n' });
  expect(server.requests('POST', `/api/tasks/${server.tasks[0]?.id}/cancel`)).toHaveLength(1);
});

test('a task that somebody else cancels exits with 1', async () => {
  server.onTask = (task) => server.emit(task, { type: 'task.cancelled', payload: { by: 'web' } });
  expect(await runVitto(['chat', 'go'], server)).toMatchObject({ code: 1, stderr: 'Cancelled by web.\n' });
});

test('broken connections lose nothing and repeat nothing', async () => {
  const words = Array.from({ length: 500 }, (_, at) => `word${at} `).join('');
  for (const position of [1, 8, 9, 250, 251, 499]) server.cuts.add(position);
  server.onTask = (task) => {
    for (const word of words.split(/(?<= )/)) server.emit(task, event.text(word));
    server.emit(task, event.turnCompleted(words));
    server.emit(task, event.completed(words));
  };
  const live = await runVitto(['chat', '--stream', 'go'], server);
  expect(live.stdout).toBe(`${words}\n`);
  expect(server.cuts.size).toBe(0);
});

test('a restart of the server in the middle loses nothing and repeats nothing', async () => {
  server.onTask = (task) => server.emit(task, event.text('before '));
  const vitto = startVitto(['chat', '--stream', 'go'], server);
  await vitto.sees('before');
  await server.stop();
  const task = server.tasks[0]?.id ?? '';
  server.emit(task, event.text('meanwhile '));
  await server.start();
  server.emit(task, event.text('after'));
  server.emit(task, event.turnCompleted('before meanwhile after'));
  server.emit(task, event.completed('before meanwhile after'));
  expect(await vitto.finished).toMatchObject({ code: 0, stdout: 'before meanwhile after\n' });
});

test('a journal that was set back is said, and its new events are shown', async () => {
  server.onTask = (task) => {
    for (const word of ['one ', 'two ', 'three ']) server.emit(task, event.text(word));
  };
  const vitto = startVitto(['chat', '--stream', '--verbose', 'go'], server);
  await vitto.sees('three');
  await server.stop();
  server.events.length -= 2;
  await server.start();
  await vitto.sees('journal was set back');
  const task = server.tasks[0]?.id ?? '';
  for (const last of [event.text('anew'), event.turnCompleted('one anew'), event.completed('one anew')]) {
    server.emit(task, last);
  }
  expect(await vitto.finished).toMatchObject({ code: 0, stdout: 'one two three anew\n\none anew\n' });
});

test('what waits for an approval exits with 5 and says how to decide', async () => {
  server.onTask = (task) => {
    const approval = event.newApproval(task, { command: 'rm -rf build' });
    server.approvals.push(approval);
    server.emit(task, event.approvalRequested(approval));
    server.emit(task, event.parkedForApproval(approval));
  };
  const run = await runVitto(['chat', 'go'], server);
  expect(run).toMatchObject({ code: 5, stdout: '' });
  expect(run.stderr).toContain(`vitto approve ${server.approvals[0]?.id}`);
});

test('a question that nobody can be asked exits with 5 and says how to answer', async () => {
  server.onTask = (task) => {
    const waitingFor = { kind: 'input' as const, callId: 'q', question: 'Which branch?' };
    server.emit(task, { type: 'task.parked', payload: { state: 'waiting_input', waitingFor } });
  };
  const run = await runVitto(['chat', 'go'], server);
  expect(run.code).toBe(5);
  expect(run.stderr).toContain('Which branch?');
  expect(run.stderr).toContain(`vitto chat --conversation ${server.tasks[0]?.conversationId}`);
});

test('a message to a running task shows what follows it, not what came before', async () => {
  const task = server.addTask();
  server.emit(task.id, event.text('old text'));
  server.emit(task.id, event.turnCompleted('old text'));
  server.onMessage = () => {
    server.emit(task.id, event.turnCompleted('new text', { turn: 2 }));
    server.emit(task.id, event.completed('new text'));
  };
  const run = await runVitto(['chat', '--conversation', task.conversationId ?? '', 'and now?'], server);
  expect(run).toMatchObject({ code: 0, stdout: 'new text\n' });
});
