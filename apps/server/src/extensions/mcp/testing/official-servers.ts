import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { McpTransport } from '@vitto/contracts';

const fileOf = (name: string) =>
  fileURLToPath(import.meta.resolve(`@modelcontextprotocol/${name}/dist/index.js`));

/** The official example server, as a program. */
export function everythingServer(): Extract<McpTransport, { kind: 'stdio' }> {
  return { kind: 'stdio', command: process.execPath, args: [fileOf('server-everything'), 'stdio'], env: {} };
}

/** The official file server, which shows one folder. */
export function filesystemServer(folder: string): Extract<McpTransport, { kind: 'stdio' }> {
  return { kind: 'stdio', command: process.execPath, args: [fileOf('server-filesystem'), folder], env: {} };
}

/** The official example server, listening on loopback until it is stopped. */
export async function startEverythingOverHttp(): Promise<{ url: string; stop: () => Promise<void> }> {
  const port = await freePort();
  const child = spawn(process.execPath, [fileOf('server-everything'), 'streamableHttp'], {
    env: { PATH: process.env['PATH'], PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(child, 'exit');
  let told = '';
  const { promise: ready, resolve, reject } = Promise.withResolvers<void>();
  child.stderr.on('data', (piece: Buffer) => {
    told += piece.toString();
    if (/listening/i.test(told)) resolve();
  });
  void ended.then(() => reject(new Error(`the server did not start: ${told}`)));
  await ready;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    stop: async () => {
      child.kill();
      await ended;
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
