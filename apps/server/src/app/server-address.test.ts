import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { publishAddress } from './server-address.ts';

let home: string;
const read = () => readFile(join(home, 'server-address'), 'utf8');
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'vitto-address-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

it('a server leaves its address for its own user alone, and takes it away at the end', async () => {
  const withdraw = await publishAddress(home, 'http://127.0.0.1:4951');
  expect(await read()).toBe('http://127.0.0.1:4951\n');
  expect((await stat(join(home, 'server-address'))).mode & 0o777).toBe(0o600);
  expect(await readdir(home)).toEqual(['server-address']);
  await withdraw();
  expect(await readdir(home)).toEqual([]);
  await withdraw();
});

it('of two servers the last one is named, and the first one leaves its name alone', async () => {
  const first = await publishAddress(home, 'http://127.0.0.1:4951');
  const second = await publishAddress(home, 'http://127.0.0.1:4952');
  await first();
  expect(await read()).toBe('http://127.0.0.1:4952\n');
  await second();
  expect(await readdir(home)).toEqual([]);
});

it('what a killed server left is replaced', async () => {
  await writeFile(join(home, 'server-address'), 'http://127.0.0.1:9\nand more\n', { mode: 0o644 });
  await publishAddress(home, 'http://[::1]:4951');
  expect(await read()).toBe('http://[::1]:4951\n');
  expect((await stat(join(home, 'server-address'))).mode & 0o777).toBe(0o600);
});

it.each([
  ['http://0.0.0.0:4951', 'http://127.0.0.1:4951\n'],
  ['http://[::]:4951', 'http://[::1]:4951\n'],
  ['http://192.168.1.5:4951', 'http://192.168.1.5:4951\n'],
])('listening on %s it is reached at %s', async (url, expected) => {
  await publishAddress(home, url);
  expect(await read()).toBe(expected);
});
