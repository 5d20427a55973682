import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '../../kernel/ids.ts';
import { silentLogger } from '../../kernel/logger.ts';
import { FakeSandboxHost } from '../../sandbox/host/testing-fake-host.ts';
import { VmApiClientService } from '../../sandbox/index.ts';
import { createSandboxServer } from './create-sandbox-server.ts';
import { createHttpTestbed, type HttpTestbed, type TestServer } from './testing/http-testbed.ts';

const TOKEN = 'q9ZrT4vN1xK8sLw2Yb7HdE5u';

let bed: HttpTestbed;
let server: TestServer;
let client: VmApiClientService;
beforeAll(async () => {
  bed = await createHttpTestbed();
  const host = new FakeSandboxHost();
  const { database } = bed;
  const sandboxApi = await createSandboxServer({ host, token: TOKEN, database, logger: silentLogger });
  server = await bed.startServer({ sandboxApi });
  client = new VmApiClientService({ url: server.url, token: TOKEN });
});
afterAll(async () => {
  await client.close();
  await bed.close();
});

it('serves the API of hosts under the port of the server, untouched by what guards the API of people', async () => {
  const [userId, taskId] = [newId(), newId()];
  const network = { packageRegistries: true, hosts: [] };
  const { sandboxId } = await client.acquire({ taskId, userId, template: 'minimal', fence: 1, network });
  const guest = client.guest(sandboxId, { taskId, fence: 1 });
  await guest.writeFile({ path: 'a', content: '\0 and a lone \u{1f98a}', encoding: 'utf8' });
  expect((await guest.readFile({ path: 'a', encoding: 'utf8' })).content).toBe('\0 and a lone \u{1f98a}');
  const big = 'x'.repeat(3_000_000);
  await guest.writeFile({ path: 'b', content: big, encoding: 'utf8' });
  expect((await guest.readFile({ path: 'b', encoding: 'utf8' })).size).toBe(big.length);
  const stream = await client.openSsh(sandboxId, { userId, publicKey: 'ssh-ed25519 AAAA' });
  stream.end('bytes of ssh');
  expect(await text(stream)).toBe('bytes of ssh');
});

it('keeps the two doors apart: neither token opens the other', async () => {
  const ask = async (path: string, token: string) => {
    const answer = await fetch(`${server.url}${path}`, { headers: { authorization: `Bearer ${token}` } });
    return { status: answer.status, code: ((await answer.json()) as { code?: string }).code };
  };
  expect(await ask('/infrastructure/sandbox/health', bed.owner.token)).toEqual({
    status: 401,
    code: 'sandbox.bad-token',
  });
  expect((await ask('/api/settings', TOKEN)).status).toBe(401);
  expect((await ask('/api/settings', bed.owner.token)).status).toBe(200);
  const plain = await bed.startServer();
  const unmounted = await fetch(`${plain.url}/infrastructure/sandbox/health`, {
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  expect(unmounted.status).toBe(404);
});
