import type { McpToolDefinition } from '@vitto/contracts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FakeServer } from './testing/fake-server.ts';
import { runVitto } from './testing/run-vitto.ts';

let server: FakeServer;
beforeEach(async () => {
  server = await new FakeServer().start();
  server.mcp.offer = [toolOf('read_file', 'Reads a file.')];
});
afterEach(() => server.stop());

const vitto = (...args: string[]) => runVitto(['mcp', ...args], server);

function toolOf(name: string, description: string, more: Partial<McpToolDefinition> = {}): McpToolDefinition {
  const fixed = { title: null, inputSchema: {}, hints: {}, warnings: [], isUsable: true };
  return { ...fixed, name, toolName: `mcp__files__${name}`, description, ...more };
}

test('a program goes in with its arguments and environment, is looked at, approved, listed and removed', async () => {
  expect(await vitto()).toMatchObject({ code: 0, stderr: expect.stringContaining('mcp add NAME URL') });
  const added = await vitto(
    ...['add', 'files', '--risk', 'read', '--set', 'TOKEN={{secret:FILES}}', '--set', 'MODE=a=b'],
    ...['--', 'npx', '-y', 'server-files', '--root', '/srv'],
  );
  expect(added).toMatchObject({ code: 0, stdout: '  mcp__files__read_file: Reads a file.\n' });
  expect(server.requests('POST', '/api/mcp-servers')[0]?.body).toEqual({
    name: 'files',
    risk: 'read',
    transport: {
      kind: 'stdio',
      command: 'npx',
      args: ['-y', 'server-files', '--root', '/srv'],
      env: { TOKEN: '{{secret:FILES}}', MODE: 'a=b' },
    },
  });
  const approved = await vitto('approve', 'files');
  expect(approved).toMatchObject({ code: 0, stdout: '' });
  expect(approved.stderr).toContain('Approved 1 tool of files.');
  expect((await vitto('ls')).stdout).toMatch(
    /^files +ready +1 tool +read +npx -y server-files --root \/srv\n$/,
  );
  expect(JSON.parse((await vitto('ls', '--json')).stdout)).toMatchObject({ items: [{ name: 'files' }] });
  expect((await vitto('rm', 'files')).stderr).toContain('Removed files.');
  expect(server.mcp.servers).toEqual([]);
});

test('an address goes in with its headers', async () => {
  await vitto('add', 'tracker', 'https://mcp.example.com/mcp', '--set', 'Authorization=Bearer {{secret:T}}');
  expect(server.requests('POST', '/api/mcp-servers')[0]?.body).toEqual({
    name: 'tracker',
    transport: {
      kind: 'http',
      url: 'https://mcp.example.com/mcp',
      headers: { Authorization: 'Bearer {{secret:T}}' },
    },
  });
});

test('a check marks what is new or other than approved, with its warnings, and no escapes of the server', async () => {
  await vitto('add', 'files', 'https://mcp.example.com/mcp');
  await vitto('approve', 'files');
  server.mcp.offer = [
    toolOf('read_file', 'Reads \u001b[31many file.'),
    toolOf('wipe', 'Wipes.', { isUsable: false, warnings: ['2 invisible characters were taken out'] }),
  ];
  const checked = await vitto('check', 'files');
  expect(checked.code).toBe(0);
  expect(checked.stdout.split('\n')).toEqual([
    expect.stringMatching(/^~ mcp__files__read_file: Reads .*any file\.$/),
    '+ mcp__files__wipe (not usable): Wipes.',
    '    ! 2 invisible characters were taken out',
    '',
  ]);
  expect(checked.stdout).not.toContain('\u001b');
  await vitto('approve', 'files');
  expect(server.requests('POST', '/api/mcp-servers').at(-1)?.body).toHaveProperty('offeredHash');
  expect((await vitto('check', 'files')).stdout).toMatch(/^ {2}mcp__files__read_file/);
});

test('one that cannot be reached says why and exits with 1, and there is nothing to approve', async () => {
  server.mcp.failure = {
    code: 'mcp.unavailable',
    message: 'It ended with exit code 3.',
    hint: 'Look at it.',
  };
  const added = await vitto('add', 'files', '--', 'broken');
  expect(added).toMatchObject({ code: 1, stdout: '' });
  expect(added.stderr).toContain('It ended with exit code 3.');
  expect(added.stderr).toContain('Look at it.');
  const approved = await vitto('approve', 'files');
  expect(approved).toMatchObject({ code: 1, stderr: expect.stringContaining('mcp check files') });
});

test('what is not understood is refused before anything is sent; a name that is not there names those that are', async () => {
  const bad = await vitto('add', 'files', 'https://a.test', '--set', 'no-value');
  expect(bad).toMatchObject({ code: 2, stderr: expect.stringContaining('is not NAME=VALUE') });
  expect((await vitto('add', 'files', 'https://a.test', '--risk', 'none')).code).toBe(2);
  expect(server.received).toEqual([]);
  await vitto('add', 'files', 'https://a.test');
  for (const command of ['check', 'approve', 'rm']) {
    expect(await vitto(command, 'other')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('There are: files.'),
    });
  }
});
