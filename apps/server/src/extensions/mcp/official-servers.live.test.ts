import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CallToolResult, Progress } from '@modelcontextprotocol/client';
import type { McpTransport } from '@vitto/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silentLogger } from '../../kernel/logger.ts';
import { openSite } from '../../kernel/network/testing/site.ts';
import { openTransport } from './open-transport.ts';
import { CONNECTION_LIMITS, ServerConnection } from './server-connection.ts';
import { everythingServer, filesystemServer, startEverythingOverHttp } from './testing/official-servers.ts';
import { createTestPrograms } from './testing/stub.ts';

const never = new AbortController().signal;

function connect(transport: McpTransport, isOwners = true) {
  const connection = new ServerConnection({
    server: 'official',
    version: '0',
    open: () => openTransport(transport, { isOwners, logger: silentLogger, programs: createTestPrograms() }),
    limits: CONNECTION_LIMITS,
    onOffer: () => undefined,
  });
  const call = (
    tool: string,
    args: Record<string, unknown>,
    more: { signal?: AbortSignal; onProgress?: (progress: Progress) => void } = {},
  ) =>
    connection.call(tool, args, {
      signal: never,
      onProgress: () => undefined,
      checkOffer: () => undefined,
      ...more,
    });
  return { connection, call };
}
const textOf = ({ content }: CallToolResult) =>
  content.map((part) => ('text' in part ? part.text : '')).join();

let http: Awaited<ReturnType<typeof startEverythingOverHttp>>;
beforeAll(async () => {
  http = await startEverythingOverHttp();
});
afterAll(() => http.stop());

describe.each(['stdio', 'streamable HTTP'])('the official everything-server over %s', (kind) => {
  let opened: ReturnType<typeof connect>;
  beforeAll(() => {
    opened = connect(kind === 'stdio' ? everythingServer() : { kind: 'http', url: http.url, headers: {} });
  });
  afterAll(() => opened.connection.close());

  it('lists tools that can all be used as they are', async () => {
    const { tools } = await opened.connection.offer(never);
    expect(tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['echo', 'get-sum', 'get-tiny-image', 'trigger-long-running-operation']),
    );
    expect(tools.filter(({ isUsable, warnings }) => !isUsable || warnings.length > 0)).toEqual([]);
  });
  it('answers a call', async () => {
    expect(textOf(await opened.call('echo', { message: 'grüße 🎉' }))).toBe('Echo: grüße 🎉');
  });
  it('tells its progress', async () => {
    const seen: number[] = [];
    const result = await opened.call(
      'trigger-long-running-operation',
      { duration: 0.4, steps: 4 },
      { onProgress: ({ progress }) => seen.push(progress) },
    );
    expect(textOf(result)).toContain('completed');
    // The SDK lets go of progress that comes together with the result.
    expect(seen.length).toBeGreaterThan(0);
    expect(seen).toEqual([1, 2, 3, 4].slice(0, seen.length));
  });
  it('gives a picture', async () => {
    const { content } = await opened.call('get-tiny-image', {});
    expect(content.map(({ type }) => type)).toEqual(['text', 'image', 'text']);
  });
  it('says what is wrong with a call', async () => {
    const result = await opened.call('get-sum', { a: 'one' });
    expect(result.isError).toBe(true);
    expect(textOf(result)).toContain('-32602');
  });
  it('leaves a call that is cancelled, and goes on', async () => {
    const stop = new AbortController();
    const long = opened.call(
      'trigger-long-running-operation',
      { duration: 600, steps: 3_000 },
      { signal: stop.signal, onProgress: () => stop.abort(new Error('stopped')) },
    );
    await expect(long).rejects.toThrow('stopped');
    expect(textOf(await opened.call('get-sum', { a: 1, b: 2 }))).toContain('3');
  });
});

describe('the official filesystem-server', () => {
  it('reads a real file, and refuses one outside of its folder', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'vitto-mcp-files-'));
    await writeFile(join(folder, 'note.txt'), 'Café 🎉');
    const { connection, call } = connect(filesystemServer(folder));
    try {
      expect(textOf(await call('read_text_file', { path: join(folder, 'note.txt') }))).toBe('Café 🎉');
      const refused = await call('read_text_file', { path: '/etc/passwd' });
      expect(refused.isError).toBe(true);
      expect(textOf(refused)).toContain('outside allowed');
    } finally {
      await connection.close();
      await rm(folder, { recursive: true });
    }
  });
});

describe('a server on the network', () => {
  it('of a member is not reached on this machine: no connection is opened', async () => {
    const site = await openSite((_, response) => response.end());
    for (const host of ['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]', '0x7f.1']) {
      const { connection } = connect(
        { kind: 'http', url: `http://${host}:${site.port}/mcp`, headers: {} },
        false,
      );
      await expect(connection.offer(never)).rejects.toThrow('not an address of the public internet');
      await connection.close();
    }
    expect(site.connections()).toBe(0);
    await site.close();
  });
  it.each(['169.254.169.254', '[fe80::1]', '[fd00:ec2::254]', '100.100.100.200'])(
    'of the owner is not reached at %s either',
    async (host) => {
      const { connection } = connect({ kind: 'http', url: `http://${host}/mcp`, headers: {} });
      await expect(connection.offer(never)).rejects.toThrow('not an address of the public internet');
      await connection.close();
    },
  );
  it('does not carry its headers to where it redirects', async () => {
    const other = await openSite((_, response) => response.end());
    const site = await openSite((_, response) =>
      response.writeHead(307, { location: `http://127.0.0.1:${other.port}/` }).end(),
    );
    const { connection } = connect({
      kind: 'http',
      url: `http://127.0.0.1:${site.port}/mcp`,
      headers: { authorization: 'Bearer of-mine' },
    });
    await expect(connection.offer(never)).rejects.toMatchObject({ code: 'mcp.unavailable' });
    expect(site.requests[0]?.headers.authorization).toBe('Bearer of-mine');
    expect(other.connections()).toBe(0);
    await connection.close();
    await Promise.all([site.close(), other.close()]);
  });
  it('that is not there is named, with what to do', async () => {
    const { connection } = connect({ kind: 'http', url: 'http://127.0.0.1:1/mcp', headers: {} });
    await expect(connection.offer(never)).rejects.toMatchObject({ code: 'mcp.unavailable' });
    await connection.close();
  });
});
