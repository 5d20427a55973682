import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { isLoopback, readOwnToken, readServerUrl } from './server-url.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'vitto-url-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const find = (environment: Record<string, string> = {}, given?: string) =>
  readServerUrl(given, { VITTO_HOME: home, ...environment }).origin;
const leave = (address: string) => writeFileSync(join(home, 'server-address'), address);

test('what is said goes before the variables, those before what the server left, that before the usual port', () => {
  expect(find()).toBe('http://127.0.0.1:4800');
  leave('http://127.0.0.1:4951\n');
  expect(find()).toBe('http://127.0.0.1:4951');
  expect(find({ VITTO_PORT: '4952' })).toBe('http://127.0.0.1:4952');
  const both = { VITTO_PORT: '4952', VITTO_URL: 'https://vitto.example' };
  expect(find(both)).toBe('https://vitto.example');
  expect(find(both, 'http://127.0.0.1:4953')).toBe('http://127.0.0.1:4953');
});

test('an empty variable and a port 0 say nothing', () => {
  leave('http://127.0.0.1:4951');
  expect(find({ VITTO_PORT: '', VITTO_URL: ' ' })).toBe('http://127.0.0.1:4951');
  expect(find({ VITTO_PORT: '0' })).toBe('http://127.0.0.1:4951');
});

test.each(['http://[::1]:4951', 'http://localhost:4951'])('%s is believed when a server left it', (url) => {
  leave(url);
  expect(find()).toBe(url);
});

test.each([
  'http://192.168.1.5:4951',
  'https://127.0.0.1:4951',
  'http://127.0.0.1.example:4951',
  'http://127.0.0.1:4951@evil.example',
  'file:///etc/passwd',
  'half',
  '',
])('"%s" is not believed, whoever left it', (address) => {
  leave(address);
  expect(find()).toBe('http://127.0.0.1:4800');
});

test.each(['vitto', 'ftp://127.0.0.1', 'http://127.0.0.1:99999'])('%s is refused as an address', (given) => {
  expect(() => find({}, given)).toThrow(expect.objectContaining({ code: 'cli.bad-url' }));
});

test('the token of this machine goes to this machine alone', () => {
  writeFileSync(join(home, 'cli-token'), 'secret\n');
  const tokenFor = (url: string) => readOwnToken(new URL(url), { VITTO_HOME: home });
  expect(tokenFor('http://127.0.0.1:4800')).toBe('secret');
  expect(tokenFor('http://127.0.0.1.example')).toBeUndefined();
  expect(isLoopback(new URL('http://127.evil.example'))).toBe(false);
  expect(isLoopback(new URL('http://127.1'))).toBe(true);
});
