import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import * as event from './testing/events.ts';
import { FakeServer } from './testing/fake-server.ts';
import { hasTerminals, startVittoOnTerminal } from './testing/run-vitto.ts';

let server: FakeServer;
beforeEach(async () => {
  server = await new FakeServer().start();
  server.onTask = (task) => {
    const approval = event.newApproval(task, { command: 'rm -rf build' });
    server.approvals.push(approval);
    server.emit(task, event.approvalRequested(approval));
    server.emit(task, event.parkedForApproval(approval));
  };
  server.onDecision = ({ taskId, state }) => {
    server.emit(taskId, event.turnCompleted(`It was ${state}.`));
    server.emit(taskId, event.completed(`It was ${state}.`));
  };
});
afterEach(() => server.stop());

const decisions = () => server.requests('POST', '/api/approvals');

// Skipped where there is no util-linux `script` to give the program a terminal.
describe.skipIf(!hasTerminals)('on a terminal', () => {
  test('an approval is asked inline with what would run, and a yes runs it', async () => {
    const vitto = startVittoOnTerminal(['chat', 'go'], server);
    await vitto.sees('command: rm -rf build');
    await vitto.sees('Run it?');
    vitto.child.stdin.write('y\r');
    const run = await vitto.finished;
    expect(run.code).toBe(0);
    expect(decisions()[0]?.body).toEqual({ decision: 'approved', argumentsHash: 'hash-of-arguments' });
    expect(run.stdout).toContain('It was approved.');
  });

  test('a slip decides nothing, and a sentence refuses with a note', async () => {
    const vitto = startVittoOnTerminal(['chat', 'go'], server);
    await vitto.sees('Run it?');
    vitto.child.stdin.write('ok\r');
    await expect.poll(() => vitto.stdout.split('Run it?').length, { timeout: 30_000 }).toBeGreaterThan(2);
    expect(decisions()).toEqual([]);
    vitto.child.stdin.write('use the staging server\r');
    await vitto.finished;
    expect(decisions()[0]?.body).toMatchObject({ decision: 'refused', note: 'use the staging server' });
  });

  test('a question that is decided elsewhere is taken back', async () => {
    const vitto = startVittoOnTerminal(['chat', 'go'], server);
    await vitto.sees('Run it?');
    const [approval] = server.approvals;
    if (approval === undefined) throw new Error('There is no approval.');
    const { id: approvalId, callId, taskId } = approval;
    server.emit(taskId, {
      type: 'approval.decided',
      payload: { approvalId, callId, decision: 'refused', by: 'web' },
    });
    server.emit(taskId, event.completed('Then I stop here.'));
    const run = await vitto.finished;
    expect(run.code).toBe(0);
    expect(run.stdout).toContain('refused, by web');
    expect(run.stdout).toContain('Then I stop here.');
  });

  test('Ctrl-C at the question cancels the task and exits with 130', async () => {
    const vitto = startVittoOnTerminal(['chat', 'go'], server);
    await vitto.sees('Run it?');
    vitto.child.stdin.write('\x03');
    expect((await vitto.finished).code).toBe(130);
    expect(decisions()).toEqual([]);
  });

  test('a conversation goes on until Ctrl-D, and ask_user is answered in it', async () => {
    server.onTask = (task) => {
      const waitingFor = {
        kind: 'input' as const,
        callId: 'q',
        question: 'Which branch?',
        choices: ['main', 'next'],
      };
      server.emit(task, { type: 'task.parked', payload: { state: 'waiting_input', waitingFor } });
    };
    server.onMessage = ({ body }) => {
      const task = server.tasks.at(-1)?.id ?? '';
      server.emit(task, event.turnCompleted(`I take ${String(body['text'])}.`));
      server.emit(task, event.completed(`I take ${String(body['text'])}.`));
    };
    const vitto = startVittoOnTerminal(['chat'], server);
    await vitto.sees('> ');
    vitto.child.stdin.write('release it\r');
    await vitto.sees('2. next');
    await vitto.sees('Your answer:');
    vitto.child.stdin.write('2\r');
    await vitto.sees('I take next.');
    await vitto.sees('cost unknown');
    const hasPromptAgain = () => vitto.stdout.lastIndexOf('> ') > vitto.stdout.indexOf('cost unknown');
    await expect.poll(hasPromptAgain, { timeout: 30_000 }).toBe(true);
    vitto.child.stdin.write('\x04');
    const run = await vitto.finished;
    expect(run.code).toBe(0);
    expect(server.requests('POST', '/api/conversations')[0]?.body).toEqual({ text: 'next', answers: 'q' });
    expect(run.stdout).toContain('To go on: vitto chat --conversation');
  });

  test('what runs now stands in a line of its own, and colours obey NO_COLOR', async () => {
    server.onTask = (task) => {
      server.emit(task, event.toolStarting('c', 'run_command', { command: 'sleep 1' }));
    };
    const vitto = startVittoOnTerminal(['chat', 'go'], { url: server.url, env: { NO_COLOR: '1' } });
    await vitto.sees('… run sleep 1');
    const task = server.tasks[0]?.id ?? '';
    server.emit(task, event.toolCalled('c', 'run_command'));
    server.emit(task, event.completed('Slept.'));
    const run = await vitto.finished;
    expect(run.stdout).toContain('✓ run sleep 1 · 0.3 s');
    expect(run.stdout).not.toContain('\x1b[2m');
  });
});
