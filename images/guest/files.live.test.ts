import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readFile, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TO_GUEST, TO_HOST, str, u32, u64 } from './testing/frames.ts';
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

const home = (...names: string[]) => join(agent.home, ...names);
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest();

test.each([0, 1, 65_536, 65_537, 5_000_000])('%i bytes are written and read back', async (size) => {
  const content = randomBytes(size);
  expect(await channel.write(`sizes/${size}`, content)).toBe(0);
  expect(content.equals((await channel.read(`sizes/${size}`)) as Buffer)).toBe(true);
  expect(await readdir(home('sizes'))).toEqual(
    expect.not.arrayContaining([expect.stringContaining('.vitto')]),
  );
});

test('a part of a file is read, and its whole size is told', async () => {
  await writeFile(home('part'), '0123456789');
  expect(await channel.read('part', 3, 4)).toEqual(Buffer.from('3456'));
  expect(await channel.read('part', 8, 100)).toEqual(Buffer.from('89'));
  expect(await channel.read('part', 100, 1)).toEqual(Buffer.alloc(0));
  const id = channel.newId();
  channel.send(TO_GUEST.read, id, Buffer.concat([Buffer.from([0]), str('part'), u64(0), u64(0)]));
  expect((await channel.next(id)).payload).toEqual(u64(10));
  expect((await channel.next(id)).type).toBe(TO_HOST.end);
});

test('a file keeps its permissions, and gets those that are asked for', async () => {
  await writeFile(home('script'), 'old');
  await chmod(home('script'), 0o750);
  await channel.write('script', Buffer.from('new'));
  expect((await stat(home('script'))).mode & 0o7777).toBe(0o750);
  await channel.write('script', Buffer.from('new'), { mode: 0o600 });
  expect((await stat(home('script'))).mode & 0o7777).toBe(0o600);
  await channel.write('fresh', Buffer.from('new'));
  expect((await stat(home('fresh'))).mode & 0o7777).toBe(0o644);
});

test('a write that expects another content changes nothing', async () => {
  const seen = Buffer.from('what I saw');
  await writeFile(home('watched'), seen);
  expect(
    await channel.write('watched', Buffer.from('mine'), { expect: 1, sha256: sha256(Buffer.from('x')) }),
  ).toBe(9);
  expect(await channel.write('watched', Buffer.from('mine'), { expect: 2 })).toBe(9);
  expect(await readFile(home('watched'), 'utf8')).toBe('what I saw');
  expect(await channel.write('watched', Buffer.from('mine'), { expect: 1, sha256: sha256(seen) })).toBe(0);
  expect(await channel.write('not-yet', Buffer.from('mine'), { expect: 1, sha256: sha256(seen) })).toBe(9);
  expect(await channel.write('not-yet', Buffer.from('mine'), { expect: 2 })).toBe(0);
  for (const size of [55, 56, 63, 64, 65, 119, 120, 100_000]) {
    const content = randomBytes(size);
    await writeFile(home('digest'), content);
    expect(await channel.write('digest', content, { expect: 1, sha256: sha256(content) })).toBe(0);
  }
});

test('only regular files are read and written, and nothing is opened to find out', async () => {
  execFileSync('mkfifo', [home('pipe')]);
  await mkdir(home('folder'));
  for (const path of ['pipe', 'folder', '/dev/zero', '.']) {
    expect(await channel.read(path)).toBe(3);
    expect(await channel.write(path, Buffer.from('x'))).toBe(3);
  }
  expect(await channel.read('nothing')).toBe(2);
  expect(await channel.read('part/below')).toBe(4);
  expect(await channel.write('part/below', Buffer.from('x'))).toBe(4);
  expect(await channel.read('')).toBe(1);
  expect(await channel.read('nul\0byte')).toBe(1);
  expect(await channel.read('x'.repeat(300))).toBe(1);
  expect(await channel.read('y/'.repeat(2100))).toBe(1);
});

test('a link is written through, and one that leads nowhere is no file', async () => {
  await writeFile(home('target'), 'old');
  await symlink('target', home('link'));
  await symlink('loop', home('loop'));
  await symlink('nowhere', home('dangling'));
  expect(await channel.write('link', Buffer.from('new'))).toBe(0);
  expect(await readFile(home('target'), 'utf8')).toBe('new');
  expect(await channel.read('link')).toEqual(Buffer.from('new'));
  expect(await channel.write('dangling', Buffer.from('x'))).toBe(2);
  expect(await channel.read('loop')).toBe(1);
});

test('a full disk is told, and leaves the old file and nothing else', async () => {
  await mkdir(home('small'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', home('small')]);
  try {
    await writeFile(home('small/kept'), 'old');
    expect(await channel.write('small/kept', Buffer.alloc(1_000_000, 1))).toBe(8);
    expect(await readFile(home('small/kept'), 'utf8')).toBe('old');
    expect(await readdir(home('small'))).toEqual(['kept']);
  } finally {
    execFileSync('umount', [home('small')]);
  }
});

test('a write that is let go of leaves nothing', async () => {
  await mkdir(home('unfinished'));
  const head = [Buffer.from([0]), str('unfinished/file'), u32(0xffffffff), Buffer.alloc(33), u64(100)];
  channel.send(TO_GUEST.write, channel.newId(), Buffer.concat(head));
  await expect.poll(async () => (await readdir(home('unfinished'))).length).toBe(1);
  await channel.hello();
  expect(await readdir(home('unfinished'))).toEqual([]);
});

test('names of any bytes are listed, read and written', async () => {
  const names = ['caf\xe9-\xff.txt', 'a\nb', '-rf', ' lead', 'n'.repeat(255)].map((name) =>
    Buffer.from(name, 'latin1'),
  );
  names.push(Buffer.from('猫 🦊.txt'));
  for (const name of names) {
    const path = Buffer.concat([Buffer.from('odd/'), name]);
    expect(await channel.write(path, name)).toBe(0);
    expect(await channel.read(path)).toEqual(name);
  }
  const listed = await channel.list('odd', 1);
  expect([...(listed as Map<string, string>).keys()].sort()).toEqual(
    names.map((n) => n.toString('latin1')).sort(),
  );
});

test('a listing goes as deep as it is asked to, and never through a link', async () => {
  await mkdir(home('tree/a/b/c'), { recursive: true });
  await symlink('/etc', home('tree/link'));
  await symlink('.', home('tree/loop'));
  execFileSync('mkfifo', [home('tree/pipe')]);
  expect(await channel.list('tree', 1)).toEqual(
    new Map([
      ['a', 'd'],
      ['link', 'l'],
      ['loop', 'l'],
      ['pipe', 'o'],
    ]),
  );
  expect([...((await channel.list('tree', 3)) as Map<string, string>).keys()].sort()).toEqual([
    'a',
    'a/b',
    'a/b/c',
    'link',
    'loop',
    'pipe',
  ]);
  expect(await channel.list('nothing', 1)).toBe(2);
  expect(await channel.list('part', 1)).toBe(4);
});

test('a hundred thousand files are listed, each once, while others are answered', async () => {
  await mkdir(home('many'));
  execFileSync('sh', ['-c', 'seq -f f%06.0f 1 100000 | xargs touch'], { cwd: home('many') });
  const listing = channel.list('many', 1);
  expect((await channel.run(['echo', 'ok'])).stdout.toString()).toBe('ok\n');
  expect(((await listing) as Map<string, string>).size).toBe(100_000);
});

test('a reader that gives no credit for a file gets its window and no more', async () => {
  const id = channel.newId();
  channel.send(
    TO_GUEST.read,
    id,
    Buffer.concat([Buffer.from([0]), str('sizes/5000000'), u64(0), u64(2 ** 40)]),
  );
  const bytes = () =>
    channel
      .waiting(id)
      .reduce((sum, { type, payload }) => sum + (type === TO_HOST.data ? payload.length : 0), 0);
  await expect.poll(bytes).toBe(262_144);
  expect(await channel.read('part')).toEqual(Buffer.from('0123456789'));
  expect(bytes()).toBe(262_144);
});
