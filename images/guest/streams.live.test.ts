import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TO_GUEST, TO_HOST, str, u32, u64 } from './testing/frames.ts';
import { GuestAgent, buildGuest, type AgentChannel } from './testing/guest-agent.ts';

let bin: string;
let agent: GuestAgent;
let channel: AgentChannel;
let port: number;

beforeAll(async () => {
  bin = await mkdtemp(join(tmpdir(), 'vitto-agent-bin-'));
  buildGuest(bin);
  port = await freePort();
  agent = await GuestAgent.start(bin, port);
  channel = await agent.connect();
  await channel.hello();
});
afterAll(async () => {
  channel.close();
  await agent.stop();
  await rm(bin, { recursive: true });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A program's connection to the proxy's port, and the id that the agent opened for it. */
async function openProxy(): Promise<{ client: Socket; id: number }> {
  const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  client.on('error', () => undefined);
  const { id, payload } = await channel.nextOf(TO_HOST.open);
  expect(payload).toEqual(Buffer.concat([str('proxy'), str('')]));
  expect(id).toBeGreaterThanOrEqual(0x80000000);
  return { client, id };
}

test('a connection to the proxy becomes a stream, both ways and each end by itself', async () => {
  const { client, id } = await openProxy();
  client.end('question');
  channel.send(TO_GUEST.accepted, id);
  expect((await channel.next(id)).payload.toString()).toBe('question');
  expect((await channel.next(id)).type).toBe(TO_HOST.endOfFile);
  channel.send(TO_GUEST.bytes, id, Buffer.from('answer'));
  channel.send(TO_GUEST.endOfFile, id);
  expect(await text(client)).toBe('answer');
});

test('nothing is sent before the host accepts, and a refused one is closed', async () => {
  const { client, id } = await openProxy();
  client.write('too early');
  expect((await channel.call(TO_GUEST.ping)).type).toBe(TO_HOST.pong);
  expect(channel.waiting(id)).toEqual([]);
  const closed = new Promise((resolve) => client.once('close', resolve));
  client.resume();
  channel.send(TO_GUEST.reset, id, str('no'));
  client.end();
  await closed;
});

test('many bytes go through whole, within the windows', async () => {
  const { client, id } = await openProxy();
  channel.send(TO_GUEST.accepted, id);
  const sent = randomBytes(3_000_000);
  client.end(sent);
  const got: Buffer[] = [];
  for (;;) {
    const { type, payload } = await channel.next(id);
    if (type === TO_HOST.endOfFile) break;
    got.push(payload);
    channel.send(TO_GUEST.credit, id, u32(payload.length));
  }
  expect(Buffer.concat(got).equals(sent)).toBe(true);
  const back: Buffer[] = [];
  client.on('data', (bytes: Buffer) => back.push(bytes));
  let credit = 262_144;
  for (let at = 0; at < sent.length;) {
    const part = sent.subarray(at, at + Math.min(credit, 65_536));
    if (part.length > 0) channel.send(TO_GUEST.bytes, id, part);
    at += part.length;
    credit -= part.length;
    if (credit === 0) credit += (await channel.next(id)).payload.readUInt32LE(0);
  }
  channel.send(TO_GUEST.endOfFile, id);
  await new Promise((resolve) => client.once('close', resolve));
  expect(Buffer.concat(back).equals(sent)).toBe(true);
});

test('a host that sends beyond the window loses that stream only', async () => {
  const { client, id } = await openProxy();
  client.pause();
  channel.send(TO_GUEST.accepted, id);
  for (let i = 0; i < 200; i++) channel.send(TO_GUEST.bytes, id, Buffer.alloc(65_536));
  let last = await channel.next(id);
  while (last.type === TO_HOST.credit) last = await channel.next(id);
  expect(last.type).toBe(TO_HOST.reset);
  expect((await channel.run(['echo', 'ok'])).stdout.toString()).toBe('ok\n');
  client.destroy();
});

test('HELLO closes all streams', async () => {
  const { client } = await openProxy();
  const closed = new Promise((resolve) => client.once('close', resolve));
  client.resume();
  client.on('end', () => client.end());
  await channel.hello();
  await closed;
});

/** Git's ssh command in the guest. */
function startRelay(args: string[]): {
  ended: Promise<{ code: number | null; out: string; err: string }>;
  stdin: NodeJS.WritableStream;
} {
  const child = spawn(join(bin, 'vitto-git-ssh'), args, { env: { VITTO_RUN: join(agent.folder, 'run') } });
  const out = text(child.stdout);
  const err = text(child.stderr);
  const code = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const ended = Promise.all([code, out, err]).then(([code, out, err]) => ({ code, out, err }));
  return { ended, stdin: child.stdin };
}

test("the git relay tells git's arguments, and moves bytes both ways", async () => {
  const relay = startRelay(['-p', '22', 'git@host', "git-upload-pack 'a b'"]);
  const { id, payload } = await channel.nextOf(TO_HOST.open);
  expect(payload).toEqual(
    Buffer.concat([str('git'), str('-p\0' + '22\0' + 'git@host\0' + "git-upload-pack 'a b'\0")]),
  );
  channel.send(TO_GUEST.accepted, id);
  channel.send(TO_GUEST.bytes, id, Buffer.from('refs'));
  relay.stdin.end('wants');
  expect((await channel.next(id)).payload.toString()).toBe('wants');
  expect((await channel.next(id)).type).toBe(TO_HOST.endOfFile);
  channel.send(TO_GUEST.endOfFile, id);
  expect(await relay.ended).toEqual({ code: 0, out: 'refs', err: '' });
});

test('a refusal of git is told to whoever called it', async () => {
  const relay = startRelay(['git@host', 'git-upload-pack x']);
  const { id } = await channel.nextOf(TO_HOST.open);
  channel.send(TO_GUEST.reset, id, str('no key for this repository'));
  expect(await relay.ended).toEqual({ code: 128, out: '', err: 'vitto: no key for this repository\n' });
});

test('who connects to the git socket and says nothing holds nobody up', async () => {
  const idle = connect(join(agent.folder, 'run/git.sock'));
  await new Promise((resolve) => idle.once('connect', resolve));
  expect((await channel.run(['echo', 'ok'])).stdout.toString()).toBe('ok\n');
  const closed = new Promise((resolve) => idle.once('close', resolve));
  idle.resume();
  idle.write('no relay');
  await closed;
});

test('CONNECT is for sshd and nothing else', async () => {
  expect((await channel.call(TO_GUEST.connect, str('telnet'))).payload.readUInt16LE(0)).toBe(12);
});

test('RESUME writes the keys where they belong, for their owners only', async () => {
  const entropy = str(randomBytes(64));
  const clock = Buffer.concat([u64(Math.floor(Date.now() / 1000)), u32(0)]);
  const resume = (id: string) =>
    Buffer.concat([clock, entropy, str(id), str('HOST KEY\n'), str('ssh-ed25519 A\n')]);
  expect((await channel.call(TO_GUEST.resume, resume('not hex'))).type).toBe(TO_HOST.fail);
  const { type, payload } = await channel.call(TO_GUEST.resume, resume('0123456789abcdef'.repeat(2)));
  expect(type).toBe(TO_HOST.resumed);
  expect(Math.abs(Number(payload.readBigInt64LE(0)) - Date.now() / 1000)).toBeLessThan(60);
  expect(await readFile(join(agent.folder, 'run/machine-id'), 'utf8')).toBe(
    `${'0123456789abcdef'.repeat(2)}\n`,
  );
  const key = join(agent.folder, 'run/ssh_host_ed25519_key');
  expect([await readFile(key, 'utf8'), (await stat(key)).mode & 0o777]).toEqual(['HOST KEY\n', 0o600]);
  expect(await readFile(join(agent.home, '.ssh/authorized_keys'), 'utf8')).toBe('ssh-ed25519 A\n');
});

test('RESUME without keys takes away those that are there, and leaves what is no file of keys', async () => {
  const clock = Buffer.concat([u64(Math.floor(Date.now() / 1000)), u32(0)]);
  const payload = Buffer.concat([clock, str(randomBytes(32)), str('0'.repeat(32)), str('K'), str('')]);
  const keys = join(agent.home, '.ssh/authorized_keys');
  expect((await channel.call(TO_GUEST.resume, payload)).type).toBe(TO_HOST.resumed);
  await expect(stat(keys)).rejects.toThrow('ENOENT');
  expect((await channel.call(TO_GUEST.resume, payload)).type).toBe(TO_HOST.resumed);
  await mkdir(keys);
  expect((await channel.call(TO_GUEST.resume, payload)).type).toBe(TO_HOST.resumed);
});

test('RESUME fails when a part of it does', async () => {
  await rm(join(agent.folder, 'run/machine-id'));
  const clock = Buffer.concat([u64(Math.floor(Date.now() / 1000)), u32(0)]);
  await mkdir(join(agent.folder, 'run/machine-id'));
  const payload = [clock, str(randomBytes(32)), str('0'.repeat(32)), str('K'), str('A')];
  expect((await channel.call(TO_GUEST.resume, Buffer.concat(payload))).type).toBe(TO_HOST.fail);
});

test('SYNC is answered when the disk has everything', async () => {
  expect((await channel.call(TO_GUEST.sync)).type).toBe(TO_HOST.synced);
});
