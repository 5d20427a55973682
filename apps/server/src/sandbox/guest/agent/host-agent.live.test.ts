import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeGuestSession, until } from '../guest-session.contract.ts';
import { AgentConnection } from './agent-connection.ts';
import { AgentGuestSession } from './agent-guest-session.ts';
import { HostAgent } from './testing/host-agent.ts';

const agent = new HostAgent();
let connection: AgentConnection | null = null;

async function connectAgain(): Promise<AgentGuestSession> {
  // The agent speaks with one host at a time.
  connection?.close();
  connection = await AgentConnection.open(await agent.connect());
  return new AgentGuestSession(connection, {
    id: 'm',
    taskId: 'task',
    home: agent.home,
    recordsFolder: agent.records,
  });
}

beforeAll(() => agent.start());
afterAll(async () => {
  connection?.close();
  await agent.remove();
});

describeGuestSession('the agent on this host', {
  open: connectAgain,
  close: async () => connection?.close(),
});

describe('what outlives a connection', () => {
  it('keeps the outcome and the output of a command whose caller has gone', async () => {
    const first = await connectAgain();
    const running = first.exec({
      command: 'echo begun; sleep 1; echo done; exit 3',
      timeoutMs: 20_000,
      callId: 'X/1',
    });
    await until(async () => (await first.readCommand({ callId: 'X/1' })).state === 'running');
    connection?.close();
    await expect(running).rejects.toMatchObject({
      code: 'session-lost',
      hint: expect.stringContaining('record'),
    });

    const second = await connectAgain();
    await until(async () => (await second.readCommand({ callId: 'X/1' })).state === 'ended');
    expect(await second.readCommand({ callId: 'X/1' })).toMatchObject({
      exitCode: 3,
      signal: null,
      stdoutBytes: 11,
      output: { stdout: { text: 'begun\ndone\n', missingBytes: 0 }, stderr: { text: '' } },
    });
    expect(await second.readCommand({ callId: 'another' })).toMatchObject({ state: 'unknown' });
    await expect(
      second.exec({ command: 'echo twice', timeoutMs: 5000, callId: 'X/1' }),
    ).rejects.toMatchObject({
      code: 'unavailable',
    });
  });
});

it('leaves nothing in the agent of calls that were given up', async () => {
  const guest = await connectAgain();
  await guest.writeFile({ path: 'kept.txt', content: 'old', encoding: 'utf8' });
  await guest.exec({ command: 'mkdir -p wide; cd wide; seq 30000 | xargs touch', timeoutMs: 60_000 });
  const codeOf = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => 'no error',
      (error: Error) => error.message,
    );
  // More than the agent has room for at a time.
  for (let round = 0; round < 40; round += 1) {
    const cancel = new AbortController();
    const { signal } = cancel;
    const given = [
      guest.listFiles({ path: 'wide', depth: 2, signal }),
      guest.readFile({ path: '/proc/self/mountinfo', length: 1, encoding: 'utf8', signal }),
      guest.writeFile({ path: 'kept.txt', content: 'x'.repeat(2_000_000), encoding: 'utf8', signal }),
    ].map(codeOf);
    cancel.abort(new Error('given up'));
    expect(await Promise.all(given)).toEqual(['given up', 'given up', 'given up']);
  }
  expect((await guest.listFiles({ path: 'wide' })).total).toBe(30_000);
  expect((await guest.readFile({ path: 'kept.txt', encoding: 'utf8' })).content).toBe('old');
  expect((await guest.exec({ command: 'ls -A | grep -c tmp', timeoutMs: 5000 })).stdout.text).toBe('0\n');
});

it('runs eight commands at a time, each with its own output', async () => {
  const guest = await connectAgain();
  const run = (index: number): Promise<string> =>
    guest
      .exec({ command: `for i in 1 2 3; do echo ${index}; sleep 0.05; done`, timeoutMs: 20_000 })
      .then(({ stdout }) => stdout.text);
  const texts = await Promise.all(Array.from({ length: 8 }, (_, index) => run(index)));
  expect(texts).toEqual(Array.from({ length: 8 }, (_, index) => `${index}\n`.repeat(3)));
});
