import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FLAG, TO_GUEST, TO_HOST, execPayload, str, u32 } from './testing/frames.ts';
import { GuestAgent, buildGuest, type AgentChannel } from './testing/guest-agent.ts';

let bin: string;
let agent: GuestAgent;
let channel: AgentChannel;

beforeAll(async () => {
  bin = await mkdtemp(join(tmpdir(), 'vitto-agent-bin-'));
  buildGuest(bin);
  agent = await GuestAgent.start(bin);
  channel = await agent.connect();
  await channel.hello();
});
afterAll(async () => {
  channel.close();
  await agent.stop();
  await rm(bin, { recursive: true });
});

const sh = async (script: string, options = {}) => await channel.run(['sh', '-c', script], options);
const ended = { signal: 0, timedOut: false, limit: 0, leftovers: 0 };

test('output and exit code come back, each stream by itself', async () => {
  const result = await sh('echo out; echo err >&2; exit 3');
  expect([result.stdout.toString(), result.stderr.toString()]).toEqual(['out\n', 'err\n']);
  expect(result.outcome).toEqual({ ...ended, exitCode: 3, stdoutBytes: 4, stderrBytes: 4 });
});

test('a signal is told from an exit code', async () => {
  expect((await sh('kill -9 $$')).outcome).toMatchObject({ exitCode: -1, signal: 9 });
  expect((await sh('exit 137')).outcome).toMatchObject({ exitCode: 137, signal: 0 });
});

test('what cannot be started is refused with its reason', async () => {
  expect((await channel.run(['no-such-program'])).failed).toBe(11);
  expect((await channel.run(['/etc/passwd'])).failed).toBe(11);
  expect((await channel.run(['true'], { cwd: 'no/such/folder' })).failed).toBe(2);
  expect((await channel.run(['true'], { cwd: '/etc/passwd' })).failed).toBe(4);
  expect((await channel.run(['true'], { env: ['NOTHING'] })).failed).toBe(14);
});

test('it runs in the home with an environment of its own, and what the call gives lies on top', async () => {
  expect((await sh('pwd; echo $HOME; echo $LC_ALL')).stdout.toString()).toBe(
    `${agent.home}\n${agent.home}\nC.UTF-8\n`,
  );
  const env = ['HOME=/elsewhere', 'A=b c', 'PATH=/usr/bin:/bin'];
  expect((await sh('echo $HOME $A $PATH $VITTO_HOME', { env })).stdout.toString()).toBe(
    '/elsewhere b c /usr/bin:/bin\n',
  );
});

test('standard input is at its end unless it is fed, and all that is fed arrives', async () => {
  expect((await sh('cat; echo end')).stdout.toString()).toBe('end\n');
  expect((await sh('cat', { stdin: Buffer.from('W\0s\0') })).stdout).toEqual(Buffer.from('W\0s\0'));
  expect((await sh('wc -c', { stdin: Buffer.alloc(0) })).stdout.toString()).toBe('0\n');
});

test('a child that holds the pipes does not hold the call', async () => {
  for (let i = 0; i < 20; i++) {
    const result = await sh('(sleep 300 &) ; echo ready');
    expect(result.stdout.toString()).toBe('ready\n');
    expect(result.outcome).toMatchObject({ exitCode: 0, leftovers: 1 });
  }
  expect((await sh('echo ok')).stdout.toString()).toBe('ok\n');
});

test('a time limit ends the whole tree, also those who ignore TERM, and keeps what was printed', async () => {
  const script = 'trap "" TERM; (trap "" TERM; sleep 5; touch late; sleep 4711) & echo $!; wait';
  const result = await sh(script, { limitMs: 300 });
  const child = Number(result.stdout.toString());
  expect(child).toBeGreaterThan(0);
  expect(result.outcome).toMatchObject({ exitCode: -1, signal: 9, timedOut: true });
  await expect.poll(() => isAlive(child)).toBe(false);
  expect(existsSync(join(agent.home, 'late'))).toBe(false);
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test('STOP ends a command with TERM, and with KILL when there is no grace', async () => {
  for (const [grace, signal] of [
    [5000, 15],
    [0, 9],
  ] as const) {
    const id = channel.newId();
    channel.send(TO_GUEST.exec, id, execPayload(['sleep', '300']));
    expect((await channel.next(id)).type).toBe(TO_HOST.started);
    channel.send(TO_GUEST.stop, id, u32(grace));
    expect((await channel.finish(id)).outcome).toMatchObject({ exitCode: -1, signal, timedOut: false });
  }
});

test('a reader that gives no credit holds up its own command and no other', async () => {
  const id = channel.newId();
  channel.send(TO_GUEST.exec, id, execPayload(['head', '-c', '3000000', '/dev/zero']));
  const bytes = () =>
    channel
      .waiting(id)
      .reduce((sum, { type, payload }) => sum + (type === TO_HOST.stdout ? payload.length : 0), 0);
  await expect.poll(bytes).toBe(262_144);
  for (let i = 0; i < 5; i++) expect((await sh('head -c 500000 /dev/zero')).stdout.length).toBe(500_000);
  expect(bytes()).toBe(262_144);
  expect((await channel.finish(id)).stdout.length).toBe(3_000_000);
});

test('input beyond the window ends the command', async () => {
  const id = channel.newId();
  channel.send(TO_GUEST.exec, id, execPayload(['sleep', '300'], { flags: FLAG.stdin }));
  for (let i = 0; i < 6; i++) channel.send(TO_GUEST.stdin, id, Buffer.alloc(65_536));
  expect((await channel.finish(id)).failed).toBe(14);
});

test('credit comes for input that is taken', async () => {
  const id = channel.newId();
  channel.send(TO_GUEST.exec, id, execPayload(['wc', '-c'], { flags: FLAG.stdin }));
  let credit = 262_144;
  for (let left = 2_000_000; left > 0;) {
    const n = Math.min(left, credit, 65_536);
    if (n > 0) channel.send(TO_GUEST.stdin, id, Buffer.alloc(n));
    credit -= n;
    left -= n;
    if (credit > 0) continue;
    const { type, payload } = await channel.next(id);
    if (type === TO_HOST.credit) credit += payload.readUInt32LE(0);
  }
  channel.send(TO_GUEST.stdin, id);
  expect((await channel.finish(id)).stdout.toString()).toBe('2000000\n');
});

test('a record tells how a command ended, and its name is used once', async () => {
  expect((await channel.recordState('one')).state).toBe(0);
  await sh('echo kept; exit 5', { flags: FLAG.record, record: 'one' });
  const { state, outcome } = await channel.recordState('one');
  expect([state, outcome.exitCode, outcome.stdoutBytes]).toEqual([2, 5, 5]);
  expect(await readFile(join(agent.folder, 'records/one/stdout'), 'utf8')).toBe('kept\n');
  expect((await sh('true', { flags: FLAG.record, record: 'one' })).failed).toBe(10);
  expect((await channel.run(['no-such-program'], { flags: FLAG.record, record: 'none' })).failed).toBe(11);
  expect((await channel.recordState('none')).state).toBe(0);
  for (const name of ['', '../x', 'A', 'x'.repeat(65), 'a/b']) {
    expect((await sh('true', { flags: FLAG.record, record: name })).failed).toBe(14);
  }
});

test('of a long output the record keeps the first and the last two MiB', async () => {
  await sh('seq 1000000 1700000', { flags: FLAG.record, record: 'long' });
  const settled = join(agent.folder, 'records/long/outcome');
  await expect.poll(() => existsSync(settled)).toBe(true);
  const whole = Buffer.from(Array.from({ length: 700_001 }, (_, i) => `${1_000_000 + i}\n`).join(''));
  const half = 2 << 20;
  const kept = await readFile(join(agent.folder, 'records/long/stdout'));
  expect(kept.equals(Buffer.concat([whole.subarray(0, half), whole.subarray(-half)]))).toBe(true);
});

test('a command goes on without its host, into its record', async () => {
  const id = channel.newId();
  const script = 'read x; seq 1 200000';
  channel.send(
    TO_GUEST.exec,
    id,
    execPayload(['sh', '-c', script], { flags: FLAG.record | FLAG.stdin, record: 'lost' }),
  );
  expect((await channel.next(id)).type).toBe(TO_HOST.started);
  channel.close();
  channel = await agent.connect();
  await channel.hello();
  await expect.poll(async () => (await channel.recordState('lost')).state).toBe(2);
  const { outcome } = await channel.recordState('lost');
  expect([outcome.exitCode, outcome.stdoutBytes]).toEqual([0, 1_288_895]);
});

test('a detached command outlives its call until its record is stopped', async () => {
  const id = channel.newId();
  const payload = execPayload(['sh', '-c', 'echo up; echo err >&2; exec sleep 300'], {
    flags: FLAG.record | FLAG.detached,
    record: 'server',
  });
  channel.send(TO_GUEST.exec, id, payload);
  const started = await channel.next(id);
  const pid = started.payload.readUInt32LE(0);
  await expect.poll(() => readFile(join(agent.folder, 'records/server/stdout'), 'utf8')).toBe('up\nerr\n');
  expect((await channel.recordState('server')).state).toBe(1);
  const stopped = await channel.call(TO_GUEST.stopRecord, Buffer.concat([str('server'), u32(1000)]));
  expect([stopped.type, stopped.payload.readUInt8(0), stopped.payload.readUInt32LE(5)]).toEqual([
    TO_HOST.recordState,
    2,
    15,
  ]);
  expect(isAlive(pid)).toBe(false);
});

test('what ran when the agent died is told as cut short', async () => {
  const id = channel.newId();
  channel.send(TO_GUEST.exec, id, execPayload(['sleep', '300'], { flags: FLAG.record, record: 'cut' }));
  const pid = (await channel.next(id)).payload.readUInt32LE(0);
  await agent.kill();
  process.kill(pid, 'SIGKILL');
  channel.close();
  await agent.launch();
  channel = await agent.connect();
  await channel.hello();
  expect((await channel.recordState('cut')).state).toBe(3);
  expect((await channel.recordState('one')).state).toBe(2);
});

test('a hundred commands at once all come back', async () => {
  const results = await Promise.all(Array.from({ length: 100 }, async (_, i) => await sh(`echo ${i}`)));
  expect(results.map(({ stdout }) => Number(stdout.toString()))).toEqual(
    Array.from({ length: 100 }, (_, i) => i),
  );
});
