import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeGuestSession, until } from '../guest-session.contract.ts';
import { AgentConnection } from './agent-connection.ts';
import { AgentGuestSession } from './agent-guest-session.ts';
import { HostAgent } from './testing/host-agent.ts';

const agent = new HostAgent();
let connection: AgentConnection;

async function connectAgain(): Promise<AgentGuestSession> {
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
  connection.close();
  await agent.remove();
});

describeGuestSession('the agent on this host', {
  open: connectAgain,
  close: async () => connection.close(),
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
    connection.close();
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
