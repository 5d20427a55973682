import { duplexPair } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../kernel/clock.ts';
import { AgentConnection } from './agent-connection.ts';
import { encodeFrame } from './frame-codec.ts';
import { TO_GUEST, TO_HOST } from './frame-types.ts';
import { str, u32, u64 } from './payload.ts';
import { FakeAgent } from './testing/fake-agent.ts';

describe('finding the agent', () => {
  it('says HELLO anew, after what ends a half-written frame, when the first was swallowed by one', async () => {
    const [host, guest] = duplexPair();
    const heard: Buffer[] = [];
    guest.on('data', (chunk: Buffer) => {
      heard.push(chunk);
      const bytes = Buffer.concat(heard);
      const spoiler = bytes.indexOf(Buffer.alloc(65_600));
      const hello = spoiler === -1 ? Buffer.alloc(0) : bytes.subarray(spoiler + 65_600);
      if (hello.length < 30) return;
      guest.write(
        encodeFrame(TO_HOST.ready, 0, Buffer.concat([hello.subarray(10, 26), u32(1), u64(7), u32(0)])),
      );
    });
    const connection = await AgentConnection.open(host);
    expect(connection.ready.uptimeMs).toBe(7);
    connection.close();
  });

  it('takes the answer to its newest HELLO alone, so that a late one lets nothing go', async () => {
    const agent = new FakeAgent();
    const hellos: Buffer[] = [];
    agent.on(TO_GUEST.hello, ({ payload }) => {
      hellos.push(payload.subarray(0, 16));
      if (hellos.length < 2) return;
      for (const nonce of hellos)
        agent.send(TO_HOST.ready, 0, Buffer.concat([nonce, u32(1), u64(hellos.indexOf(nonce)), u32(0)]));
    });
    const connection = await AgentConnection.open(agent.host);
    expect(connection.ready.uptimeMs).toBe(1);
    connection.close();
  });

  it('passes over what an earlier connection left, wherever it was cut', async () => {
    const stale = encodeFrame(TO_HOST.stdout, 9, Buffer.alloc(500, 0xa5));
    for (const cut of [0, 1, 5, 11, 300, stale.length - 1]) {
      const before = Buffer.concat([
        stale.subarray(cut),
        stale,
        encodeFrame(TO_HOST.ready, 0, Buffer.alloc(32)),
      ]);
      const connection = await AgentConnection.open(new FakeAgent({ before }).host);
      expect(connection.ready).toEqual({ version: 1, uptimeMs: 1234, running: 2 });
      connection.close();
    }
  });

  it('gives up on silence, on a close and on another version, and says which', async () => {
    const silent = new FakeAgent();
    silent.on(TO_GUEST.hello, () => undefined);
    const reason = (agent: FakeAgent): Promise<unknown> =>
      AgentConnection.open(agent.host, { limitMs: 50 }).catch((error: unknown) => error);
    expect(await reason(silent)).toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('50 ms'),
    });
    expect(silent.host.destroyed).toBe(true);
    const dead = new FakeAgent();
    dead.on(TO_GUEST.hello, () => dead.end());
    expect(await reason(dead)).toMatchObject({ message: expect.stringContaining('closed') });
    expect(await reason(new FakeAgent({ version: 2 }))).toMatchObject({
      message: expect.stringContaining('version 2'),
    });
  });
});

describe('a guest that breaks the protocol', () => {
  const hostile: Record<string, (agent: FakeAgent, id: number) => void> = {
    'sends garbage': (agent) => agent.raw(Buffer.from('kernel panic')),
    'sends a huge length': (agent) =>
      agent.raw(Buffer.from([0xa5, 0xff, 0xff, 0xff, 0xff, 0x91, 0, 0, 0, 0])),
    'sends a frame for guests': (agent, id) => agent.send(TO_GUEST.exec, id),
    'sends more than it has credit for': (agent, id) => {
      for (let round = 0; round < 5; round += 1) agent.send(TO_HOST.stdout, id, Buffer.alloc(65_536));
    },
    'gives credit without end': (agent, id) => {
      for (let round = 0; round < 2; round += 1) agent.send(TO_HOST.credit, id, u32(0xffff_ffff));
    },
    'answers without end': (agent, id) => {
      for (let round = 0; round < 100; round += 1) agent.send(TO_HOST.started, id, u32(1));
    },
    'opens a stream by an id of the host': (agent) => {
      agent.send(TO_HOST.open, 5, Buffer.concat([str('proxy'), str('')]));
    },
    'cuts a payload short': (agent, id) => agent.send(TO_HOST.credit, id, Buffer.alloc(3)),
  };

  it.each(Object.entries(hostile))('that %s loses its connection, with the reason', async (_, attack) => {
    const agent = new FakeAgent();
    const connection = await AgentConnection.open(agent.host);
    const channel = connection.openChannel();
    attack(agent, channel.id);
    expect((await connection.ended).reason).toContain('broke its protocol');
    await expect(channel.next()).rejects.toMatchObject({ code: 'session-lost' });
    expect(() => connection.openChannel()).toThrow(/broke/);
  });

  it('may send what it likes for ids that are not there: it is dropped', async () => {
    const agent = new FakeAgent();
    const connection = await AgentConnection.open(agent.host);
    for (let id = 1; id < 2000; id += 1) agent.send(TO_HOST.stdout, id, Buffer.alloc(100));
    agent.on(TO_GUEST.ping, ({ id, payload }) => agent.send(TO_HOST.pong, id, payload));
    expect(await connection.ping()).toBeGreaterThanOrEqual(0);
    connection.close();
  });

  it('loses its connection when it does not read what it asks for', async () => {
    const agent = new FakeAgent();
    const connection = await AgentConnection.open(agent.host);
    agent.sleep();
    for (let id = 0; id < 120_000 && connection.isOpen; id += 1) {
      // Each is refused, and the refusals pile up.
      agent.send(TO_HOST.open, 0x8000_0000 + id, Buffer.concat([str('proxy'), str('')]));
      for (let round = 0; round < 4; round += 1) connection.send(TO_GUEST.ping, 0, Buffer.alloc(64));
    }
    expect((await connection.ended).reason).toContain('does not read');
  });
});

describe('flow control', () => {
  it('sends no more than the window, and goes on with credit, while other ids go on', async () => {
    const agent = new FakeAgent();
    const connection = await AgentConnection.open(agent.host);
    agent.on(TO_GUEST.ping, ({ id, payload }) => agent.send(TO_HOST.pong, id, payload));
    const channel = connection.openChannel();
    const sending = channel.sendData(TO_GUEST.content, Buffer.alloc(300_000, 1));
    const sent = (): number =>
      agent.received
        .filter(({ type }) => type === TO_GUEST.content)
        .reduce((sum, { payload }) => sum + payload.length, 0);
    await expect.poll(sent).toBe(262_144);
    await connection.ping();
    expect(sent()).toBe(262_144);
    agent.send(TO_HOST.credit, channel.id, u32(100_000));
    await sending;
    await expect.poll(sent).toBe(300_000);
    connection.close();
  });

  it('gives credit back only for what the caller is done with', async () => {
    const agent = new FakeAgent();
    const connection = await AgentConnection.open(agent.host);
    const channel = connection.openChannel();
    for (let round = 0; round < 4; round += 1) agent.send(TO_HOST.stdout, channel.id, Buffer.alloc(65_536));
    await channel.next();
    agent.on(TO_GUEST.ping, ({ id, payload }) => agent.send(TO_HOST.pong, id, payload));
    await connection.ping();
    expect(agent.received.filter(({ type }) => type === TO_GUEST.credit)).toEqual([]);
    await channel.next();
    expect((await agent.next(TO_GUEST.credit)).payload).toEqual(u32(65_536));
    connection.close();
  });

  it('keeps a window of single bytes in the room of a window', async () => {
    const agent = new FakeAgent();
    const connection = await AgentConnection.open(agent.host);
    const channel = connection.openChannel();
    const one = encodeFrame(TO_HOST.stdout, channel.id, Buffer.from('x'));
    for (let round = 0; round < 256; round += 1) agent.raw(Buffer.concat(Array<Buffer>(1024).fill(one)));
    agent.on(TO_GUEST.ping, ({ id, payload }) => agent.send(TO_HOST.pong, id, payload));
    await connection.ping();
    let pieces = 0;
    for (let bytes = 0; bytes < 262_144; pieces += 1) bytes += (await channel.next()).payload.length;
    expect(pieces).toBeLessThan(40);
    connection.close();
  });
});

describe('resuming', () => {
  const request = {
    entropy: Buffer.alloc(32, 7),
    machineId: 'a'.repeat(32),
    hostKey: 'key',
    authorizedKeys: '',
  };
  async function resumeWith(offsetsMs: number[]): Promise<void> {
    const agent = new FakeAgent();
    const clock = new FakeClock(1_800_000_000_500);
    const connection = await AgentConnection.open(agent.host, { clock });
    agent.on(TO_GUEST.resume, ({ id, payload }) => {
      const seconds = Number(payload.readBigInt64LE(0));
      const ms = seconds * 1000 + payload.readUInt32LE(8) / 1e6 + (offsetsMs.shift() ?? 0);
      agent.send(TO_HOST.resumed, id, Buffer.concat([u64(Math.floor(ms / 1000)), u32((ms % 1000) * 1e6)]));
    });
    try {
      await connection.resume(request);
    } finally {
      connection.close();
    }
  }

  it('takes a clock within two seconds, tries again, and fails closed', async () => {
    await resumeWith([1900]);
    await resumeWith([-5000, 0]);
    await resumeWith([3000, 3000, 3000, 0]);
    await expect(resumeWith(Array<number>(10).fill(3000))).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('3000 ms off'),
    });
  });
});
