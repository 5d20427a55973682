import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FLAG, TO_GUEST, TO_HOST, execPayload, frame, str, u32 } from './testing/frames.ts';
import { GuestAgent, buildGuest, type AgentChannel } from './testing/guest-agent.ts';

let bin: string;
let agent: GuestAgent;
let channel: AgentChannel;

beforeAll(async () => {
  bin = await mkdtemp(join(tmpdir(), 'vitto-agent-bin-'));
  buildGuest(bin);
  agent = await GuestAgent.start(bin);
  channel = await agent.connect();
  expect(await channel.hello()).toEqual({ version: 1, running: 0 });
});
afterAll(async () => {
  channel.close();
  await agent.stop();
  await rm(bin, { recursive: true });
});

async function expectAnswer(): Promise<void> {
  const nonce = randomBytes(8);
  expect(await channel.call(TO_GUEST.ping, nonce)).toMatchObject({ type: TO_HOST.pong, payload: nonce });
}

test('a frame is understood wherever the bytes are parted', async () => {
  const id = channel.newId();
  const bytes = frame(TO_GUEST.exec, id, execPayload(['sh', '-c', 'printf hi']));
  channel.socket.setNoDelay(true);
  for (const byte of bytes) {
    await new Promise((resolve) => channel.socket.write(Buffer.from([byte]), resolve));
  }
  expect((await channel.finish(id)).stdout.toString()).toBe('hi');
});

test('zeros and garbage between frames are skipped', async () => {
  channel.socket.write(Buffer.alloc(1000));
  channel.socket.write('some text that is no frame');
  await expectAnswer();
});

test.each([0, 4, 65_542, 0x7fffffff, 0xffffffff])(
  'a frame that says it is %i bytes long is no frame',
  async (length) => {
    channel.socket.write(Buffer.concat([Buffer.from([0xa5]), u32(length)]));
    await expectAnswer();
  },
);

test('a frame without its last byte is dropped with all that is in it', async () => {
  const inner = frame(TO_GUEST.exec, 7, execPayload(['touch', join(agent.home, 'escaped')]));
  const spoilt = frame(TO_GUEST.stdin, 8, inner);
  spoilt[spoilt.length - 1] = 0;
  channel.socket.write(spoilt);
  await expectAnswer();
  expect(await channel.read('escaped')).toBe(2);
});

test('a host that comes after one that died in the middle of a frame is understood', async () => {
  for (const size of [1, 3, 9, 10, 5000, 65_000]) {
    const half = frame(TO_GUEST.stdin, 9, Buffer.alloc(65_536, 0xa5)).subarray(0, size);
    channel.socket.write(half);
    await channel.hello();
    await expectAnswer();
  }
});

test('a type that nobody knows is refused, and so are calls that are cut short or too long', async () => {
  expect((await channel.call(0x7f)).payload.readUInt16LE(0)).toBe(12);
  const whole = execPayload(['true']);
  const types = [
    TO_GUEST.exec,
    TO_GUEST.record,
    TO_GUEST.read,
    TO_GUEST.list,
    TO_GUEST.resume,
    TO_GUEST.connect,
  ];
  for (const type of types) {
    for (const payload of [
      Buffer.alloc(0),
      Buffer.alloc(3, 0xff),
      Buffer.concat([whole, Buffer.from([1])]),
    ]) {
      expect((await channel.call(type, payload)).type).toBe(TO_HOST.fail);
    }
  }
  for (let size = 0; size < whole.length; size++) {
    expect((await channel.call(TO_GUEST.exec, whole.subarray(0, size))).type).toBe(TO_HOST.fail);
  }
});

test('frames of ids that nobody has are ignored', async () => {
  for (const type of [
    TO_GUEST.stdin,
    TO_GUEST.stop,
    TO_GUEST.content,
    TO_GUEST.credit,
    TO_GUEST.bytes,
    TO_GUEST.reset,
  ]) {
    channel.send(type, 4711, u32(1));
  }
  await expectAnswer();
});

test('random frames do the agent no harm', async () => {
  const types = Object.values(TO_GUEST).filter((type) => type !== TO_GUEST.hello);
  for (let round = 0; round < 20; round++) {
    for (let i = 0; i < 200; i++) {
      const type = types[randomBytes(1).readUInt8(0) % types.length] ?? 0;
      const id = randomBytes(1).readUInt8(0) % 8;
      channel.send(type, id, mutate(samplePayload(type)));
    }
    await channel.hello();
    await expectAnswer();
  }
  expect(agent.isRunning).toBe(true);
});

/** Something that such a frame may hold. */
function samplePayload(type: number): Buffer {
  if (type === TO_GUEST.exec) return execPayload(['echo', 'x'], { flags: FLAG.stdin, limitMs: 1000 });
  if (type === TO_GUEST.read || type === TO_GUEST.write) {
    return Buffer.concat([Buffer.from([0]), str('fuzz'), Buffer.alloc(type === TO_GUEST.read ? 16 : 45)]);
  }
  if (type === TO_GUEST.list) return Buffer.concat([str('.'), u32(2)]);
  if (type === TO_GUEST.connect) return str('sshd');
  return randomBytes(randomBytes(1).readUInt8(0) % 80);
}

function mutate(payload: Buffer): Buffer {
  if (payload.length === 0 || randomBytes(1).readUInt8(0) < 128) return payload;
  const at = randomBytes(2).readUInt16LE(0) % payload.length;
  payload[at] = randomBytes(1).readUInt8(0);
  return payload;
}
