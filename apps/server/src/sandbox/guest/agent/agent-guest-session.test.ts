import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { AgentConnection } from './agent-connection.ts';
import { AgentGuestSession } from './agent-guest-session.ts';
import { TO_GUEST, TO_HOST } from './frame-types.ts';
import { str, u32, u64 } from './payload.ts';
import { FakeAgent } from './testing/fake-agent.ts';

async function openSession(outputBytes = 1000): Promise<{
  agent: FakeAgent;
  connection: AgentConnection;
  guest: AgentGuestSession;
}> {
  const agent = new FakeAgent();
  const connection = await AgentConnection.open(agent.host);
  const guest = new AgentGuestSession(connection, { id: 'm', taskId: 't', outputBytes });
  return { agent, connection, guest };
}

function outcome({ exit = 0, signal = 0, timedOut = 0, limit = 0 } = {}): Buffer {
  const bytes = Buffer.alloc(38);
  bytes.writeInt32LE(exit, 0);
  bytes.writeUInt32LE(signal, 4);
  bytes[8] = timedOut;
  bytes[9] = limit;
  return bytes;
}

describe('commands', () => {
  it('tell how they ended', async () => {
    const { agent, connection, guest } = await openSession();
    const result = guest.exec({ command: 'make', timeoutMs: 1000 });
    const { id } = await agent.next(TO_GUEST.exec);
    agent.send(TO_HOST.exited, id, outcome({ exit: -1, signal: 9, limit: 1 }));
    expect(await result).toMatchObject({ exitCode: null, signal: 'SIGKILL', limit: 'memory' });
    connection.close();
  });

  it('are held back by a slow spool, and nobody else is', async () => {
    const { agent, connection, guest } = await openSession(10_000_000);
    const taken = Promise.withResolvers<void>();
    const slow = guest.exec({ command: 'slow', timeoutMs: 60_000, spool: () => taken.promise });
    const { id } = await agent.next(TO_GUEST.exec);
    for (let round = 0; round < 4; round += 1) agent.send(TO_HOST.stdout, id, Buffer.alloc(65_536, 97));
    const other = guest.exec({ command: 'other', timeoutMs: 1000 });
    agent.send(TO_HOST.exited, (await agent.next(TO_GUEST.exec)).id, outcome());
    expect(await other).toMatchObject({ exitCode: 0 });
    expect(agent.received.filter(({ type }) => type === TO_GUEST.credit)).toEqual([]);
    taken.resolve();
    await agent.next(TO_GUEST.credit);
    agent.send(TO_HOST.exited, id, outcome());
    expect((await slow).stdout.totalBytes).toBe(262_144);
    connection.close();
  });

  it('end at the limit of their output', async () => {
    const { agent, connection, guest } = await openSession();
    const result = guest.exec({ command: 'yes', timeoutMs: 60_000 });
    const { id } = await agent.next(TO_GUEST.exec);
    agent.send(TO_HOST.stdout, id, Buffer.alloc(2000, 121));
    expect((await agent.next(TO_GUEST.stop)).payload).toEqual(u32(0));
    agent.send(TO_HOST.exited, id, outcome({ exit: -1, signal: 9, timedOut: 1 }));
    expect(await result).toMatchObject({ limit: 'output', timedOut: false, stdout: { totalBytes: 1000 } });
    connection.close();
  });

  it('are asked to stop when the caller aborts, and end with its reason although the spool hangs', async () => {
    const { agent, connection, guest } = await openSession();
    const cancel = new AbortController();
    const hanging = (): Promise<void> => new Promise(() => undefined);
    const result = guest.exec({ command: 'x', timeoutMs: 60_000, signal: cancel.signal, spool: hanging });
    const { id } = await agent.next(TO_GUEST.exec);
    agent.send(TO_HOST.stdout, id, Buffer.from('out'));
    await setImmediate();
    cancel.abort(new Error('enough'));
    expect((await agent.next(TO_GUEST.stop)).payload).toEqual(u32(2000));
    agent.send(TO_HOST.exited, id, outcome({ exit: -1, signal: 15 }));
    await expect(result).rejects.toThrow('enough');
    connection.close();
  });

  it('whose connection breaks are told to be looked for in their record', async () => {
    const { agent, guest } = await openSession();
    const result = guest.exec({ command: 'x', timeoutMs: 60_000, callId: 'call' });
    await agent.next(TO_GUEST.exec);
    agent.end();
    await expect(result).rejects.toMatchObject({
      code: 'session-lost',
      hint: expect.stringContaining('record'),
    });
    await expect(guest.listFiles({ path: '.' })).rejects.toMatchObject({ code: 'session-lost' });
  });
});

describe('files of a guest that lies', () => {
  it('are cut off when they are longer than was asked for', async () => {
    const { agent, connection, guest } = await openSession();
    const result = guest.readFile({ path: 'f', length: 10, encoding: 'utf8' });
    const { id } = await agent.next(TO_GUEST.read);
    agent.send(TO_HOST.file, id, u64(5));
    agent.send(TO_HOST.data, id, Buffer.alloc(11));
    await expect(result).rejects.toMatchObject({ code: 'session-lost' });
    expect((await connection.ended).reason).toContain('more of a file');
  });

  it('are given up by a caller that aborts', async () => {
    const { agent, connection, guest } = await openSession();
    const cancel = new AbortController();
    const result = guest.readFile({ path: 'f', encoding: 'utf8', signal: cancel.signal });
    const { id } = await agent.next(TO_GUEST.read);
    cancel.abort(new Error('enough'));
    await expect(result).rejects.toThrow('enough');
    expect((await agent.next(TO_GUEST.reset)).id).toBe(id);
    connection.close();
  });

  it('are listed wherever the entries are cut, and not when their names have no likely length', async () => {
    const { agent, connection, guest } = await openSession();
    const entry = (name: string, size = name.length): Buffer =>
      Buffer.concat([Buffer.from('f'), u64(3), u32(size), Buffer.from(name)]);
    const bytes = Buffer.concat([entry('b'), entry('a\n')]);
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      const listing = guest.listFiles({ path: 'x' });
      const { id } = await agent.next(TO_GUEST.list);
      agent.send(TO_HOST.entries, id, bytes.subarray(0, cut));
      agent.send(TO_HOST.entries, id, bytes.subarray(cut));
      agent.send(TO_HOST.end, id);
      expect((await listing).entries.map(({ path }) => path)).toEqual(['x/a\\x0a', 'x/b']);
    }
    const listing = guest.listFiles({ path: 'x' });
    agent.send(TO_HOST.entries, (await agent.next(TO_GUEST.list)).id, entry('b', 0xffff_ffff));
    await expect(listing).rejects.toMatchObject({ code: 'session-lost' });
    expect(connection.isOpen).toBe(false);
  });
});

it('says what a refusal means in the words of every guest', async () => {
  const { agent, connection, guest } = await openSession();
  const codes: string[] = [];
  for (const code of [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 13]) {
    const result = guest.readFile({ path: 'f', encoding: 'utf8' }).then(
      () => 'none',
      (error: { code: string }) => error.code,
    );
    const { id } = await agent.next(TO_GUEST.read);
    agent.send(TO_HOST.fail, id, Buffer.concat([Buffer.of(code, 0), str('errno')]));
    codes.push(await result);
  }
  expect(codes.join(' ')).toBe(
    'bad-path not-found not-a-file not-a-directory read-only denied too-large no-space changed unavailable unavailable',
  );
  connection.close();
});
