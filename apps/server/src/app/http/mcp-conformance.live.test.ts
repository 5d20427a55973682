import { spawn } from 'node:child_process';
import { createServer, request as httpRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createHttpTestbed, type HttpTestbed } from './testing/http-testbed.ts';

const PROGRAM = fileURLToPath(
  new URL('../../../../../node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url),
);

let bed: HttpTestbed;
let proxy: Server;
beforeAll(async () => {
  bed = await createHttpTestbed();
  const { url } = await bed.startServer();
  proxy = await openProxy(url, bed.owner.token);
});
afterAll(async () => {
  proxy.closeAllConnections();
  proxy.close();
  await bed.close();
});

/** The tool signs in to no server: what it sends goes on with a token, and is changed in nothing else. */
async function openProxy(url: string, token: string): Promise<Server> {
  const server = createServer((request, response) => {
    const { method, headers } = request;
    const target = httpRequest(
      `${url}${request.url}`,
      { method, headers: { ...headers, authorization: `Bearer ${token}` } },
      (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
      },
    );
    target.on('error', () => response.destroy());
    request.pipe(target);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

async function runScenario(scenario: string): Promise<{ code: number | null; output: string }> {
  const { port } = proxy.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/mcp`;
  const child = spawn(
    process.execPath,
    [PROGRAM, 'server', '--url', url, '--scenario', scenario, '--verbose'],
    {
      cwd: tmpdir(),
    },
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (data: Buffer) => (output += data.toString()));
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { code, output };
}

// The other scenarios call tools, prompts and resources of the example server that belongs to the tool (`test_…`,
// `json_schema_2020_12_tool`), or need what this server does not offer: prompts, resources, completion, log levels.
it.each([
  'server-initialize',
  'ping',
  'tools-list',
  'server-sse-polling',
  'server-sse-multiple-streams',
  'dns-rebinding-protection',
])('passes the scenario %s of the official conformance tool', async (scenario) => {
  const { code, output } = await runScenario(scenario);
  expect(code, output).toBe(0);
});
