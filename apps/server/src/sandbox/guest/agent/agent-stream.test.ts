import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { AgentConnection, type StreamHandler } from './agent-connection.ts';
import { TO_GUEST, TO_HOST } from './frame-types.ts';
import { str, u32 } from './payload.ts';
import { FakeAgent } from './testing/fake-agent.ts';

const FIRST = 0x8000_0000;

async function openStream(): Promise<{
  agent: FakeAgent;
  connection: AgentConnection;
  stream: Duplex;
  about: string;
}> {
  const agent = new FakeAgent();
  const opened = Promise.withResolvers<Parameters<StreamHandler>>();
  const onOpen: StreamHandler = (...parts) => opened.resolve(parts);
  const connection = await AgentConnection.open(agent.host, { onOpen });
  agent.send(TO_HOST.open, FIRST, Buffer.concat([str('git'), str('a\0b\0')]));
  const [, about, stream] = await opened.promise;
  await agent.next(TO_GUEST.accepted);
  return { agent, connection, stream, about };
}

describe('streams that the guest opens', () => {
  it('carry bytes both ways, and end each way for itself', async () => {
    const { agent, connection, stream, about } = await openStream();
    expect(about).toBe('a\0b\0');
    agent.send(TO_HOST.bytes, FIRST, Buffer.from('ask'));
    agent.send(TO_HOST.eof, FIRST);
    const asked: Buffer[] = [];
    for await (const chunk of stream.iterator({ destroyOnReturn: false })) asked.push(chunk as Buffer);
    expect(Buffer.concat(asked).toString()).toBe('ask');
    stream.end('answer');
    expect((await agent.next(TO_GUEST.bytes)).payload.toString()).toBe('answer');
    await agent.next(TO_GUEST.eof);
    await expect.poll(() => stream.closed).toBe(true);
    expect(stream.errored).toBeNull();
    expect(agent.received.some(({ type }) => type === TO_GUEST.reset)).toBe(false);
    connection.close();
  });

  it('tell the guest why they are destroyed, and end with what the guest says', async () => {
    const first = await openStream();
    first.stream.destroy(new Error('that repository is not yours'));
    expect((await first.agent.next(TO_GUEST.reset)).payload).toEqual(str('that repository is not yours'));
    first.connection.close();

    const second = await openStream();
    const closed = once(second.stream, 'error');
    second.agent.send(TO_HOST.reset, FIRST, str('gone'));
    expect((await closed)[0]).toMatchObject({ message: 'gone' });
    second.connection.close();
  });

  it('hold the guest back while nobody reads, and the writer while the guest does not', async () => {
    const { agent, connection, stream } = await openStream();
    for (let round = 0; round < 4; round += 1) agent.send(TO_HOST.bytes, FIRST, Buffer.alloc(65_536));
    agent.on(TO_GUEST.ping, ({ id, payload }) => agent.send(TO_HOST.pong, id, payload));
    await connection.ping();
    await setImmediate();
    expect(agent.received.filter(({ type }) => type === TO_GUEST.credit)).toEqual([]);
    stream.resume();
    await agent.next(TO_GUEST.credit);

    let isWritten = false;
    stream.write(Buffer.alloc(300_000), () => (isWritten = true));
    await connection.ping();
    expect(isWritten).toBe(false);
    agent.send(TO_HOST.credit, FIRST, u32(262_144));
    await connection.ping();
    await setImmediate();
    expect(isWritten).toBe(true);
    connection.close();
  });

  it('end with the connection', async () => {
    const { agent, stream } = await openStream();
    const closed = once(stream, 'error');
    agent.end();
    expect((await closed)[0]).toMatchObject({ code: 'session-lost' });
  });

  it('are refused beyond 256, without a handler, and when the handler fails', async () => {
    const open = Buffer.concat([str('proxy'), str('')]);
    const agent = new FakeAgent();
    const connection = await AgentConnection.open(agent.host, { onOpen: () => undefined });
    for (let index = 0; index < 257; index += 1) agent.send(TO_HOST.open, FIRST + index, open);
    expect((await agent.next(TO_GUEST.reset)).id).toBe(FIRST + 256);
    connection.close();

    const failing = new FakeAgent();
    const onOpen = (): never => {
      throw new Error('nothing is joined to this');
    };
    const other = await AgentConnection.open(failing.host, { onOpen });
    failing.send(TO_HOST.open, FIRST, open);
    expect((await failing.next(TO_GUEST.reset)).payload).toEqual(str('nothing is joined to this'));
    other.close();
  });
});

it('joins a stream to an sshd of the guest, or fails as the guest says', async () => {
  const agent = new FakeAgent();
  const connection = await AgentConnection.open(agent.host);
  const stream = connection.connectSshd();
  const { id, payload } = await agent.next(TO_GUEST.connect);
  expect(payload).toEqual(str('sshd'));
  agent.send(TO_HOST.accepted, id);
  agent.send(TO_HOST.bytes, id, Buffer.from('SSH-2.0'));
  expect(String((await once(stream, 'data'))[0])).toBe('SSH-2.0');

  const refused = connection.connectSshd();
  const failed = once(refused, 'error');
  agent.send(
    TO_HOST.fail,
    (await agent.next(TO_GUEST.connect)).id,
    Buffer.concat([Buffer.of(12, 0), str('no sshd')]),
  );
  expect((await failed)[0]).toMatchObject({ message: 'no sshd' });
  connection.close();
});
