import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../../kernel/ids.ts';
import { createLogger } from '../../kernel/logger.ts';
import type { Database } from '../../kernel/database/database.ts';
import { VmApiClientService, type HostApp } from '../../sandbox/index.ts';
import { FakeSandboxHost } from '../../sandbox/host/testing-fake-host.ts';
import { createSandboxServer } from './create-sandbox-server.ts';

const TOKEN = 'q9ZrT4vN1xK8sLw2Yb7HdE5u';
const network = { packageRegistries: true, hosts: [] };

let host: FakeSandboxHost;
let app: HostApp;
let url: string;
let client: VmApiClientService;
let userId: string;
let taskId: string;

async function listen(port: number): Promise<void> {
  // Its tables are asked by /readyz only.
  const database = {} as Database;
  app = await createSandboxServer({
    host,
    token: TOKEN,
    database,
    logger: createLogger({ level: 'silent' }),
  });
  await app.listen({ host: '127.0.0.1', port });
}

beforeEach(async () => {
  host = new FakeSandboxHost();
  await listen(0);
  url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  client = new VmApiClientService({ url, token: TOKEN });
  userId = newId();
  taskId = newId();
});
afterEach(async () => {
  await client.close();
  await app.close();
});

const acquire = (options = {}) =>
  client.acquire({ taskId, userId, template: 'minimal', fence: 3, network, ...options });
const open = async () => client.guest((await acquire()).sandboxId, { taskId, fence: 3 });
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'no error',
    (error: { code?: string }) => error.code,
  );
const ask = (path: string, init: RequestInit & { token?: string | null } = {}) =>
  fetch(`${url}/infrastructure/sandbox${path}`, {
    ...init,
    headers: {
      ...(init.token === null ? {} : { authorization: `Bearer ${init.token ?? TOKEN}` }),
      ...(init.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(init.headers as Record<string, string> | undefined),
    },
  });

describe('the API of a sandbox host', () => {
  it('answers only who shows its token, and stops answering who guesses', async () => {
    for (const token of [null, 'wrong', `${TOKEN}x`, TOKEN.slice(1)]) {
      const refused = await ask('/health', { token });
      expect(refused.status).toBe(401);
      expect(await refused.json()).toMatchObject({ code: 'sandbox.bad-token' });
    }
    expect((await ask('/nothing-here', { token: null })).status).toBe(401);
    const statuses = await Promise.all(Array.from({ length: 30 }, () => ask('/health', { token: 'no' })));
    expect(statuses.map(({ status }) => status)).toContain(429);
    expect((await ask('/health')).status).toBe(200);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    expect(await codeOf(new VmApiClientService({ url, token: 'x' }).info())).toBe('request.too-many');
  });

  it('says which field of a body is wrong', async () => {
    const refused = await ask('/create', { method: 'POST', body: JSON.stringify({ userId, template: 'A' }) });
    expect(refused.status).toBe(422);
    const { errors } = (await refused.json()) as { errors: { path: string }[] };
    expect(errors.map(({ path }) => path).sort()).toEqual(['sessionId', 'template']);
    expect((await ask('/create', { method: 'POST', body: '{' })).status).toBe(400);
    expect(
      (await ask(`/not-an-id/snapshot`, { method: 'POST', body: JSON.stringify({ userId }) })).status,
    ).toBe(404);
  });

  it("gives a user's machine, and to another user nothing", async () => {
    const { sandboxId } = await acquire();
    expect(await client.list(userId)).toMatchObject([{ id: sandboxId, userId }]);
    expect((await ask(`/${sandboxId}?userId=${userId}`)).status).toBe(200);
    const other = newId();
    expect((await ask(`/${sandboxId}?userId=${other}`)).status).toBe(404);
    for (const act of [
      client.snapshot(sandboxId, other),
      client.destroy(sandboxId, other),
      client.forget(sandboxId, other),
      client.openSsh(sandboxId, { userId: other, publicKey: 'ssh-ed25519 AAAA' }),
    ]) {
      expect(await codeOf(act)).toBe('sandbox.not-found');
    }
    expect(await client.userSandbox(userId)).toMatchObject({ exists: true, template: 'minimal' });
    const restored = await ask(`/user/${userId}/restore`, {
      method: 'POST',
      body: JSON.stringify({ sessionId: taskId }),
    });
    expect(await restored.json()).toMatchObject({ status: 404, code: 'sandbox.no-snapshot' });
  });

  it('tells the place in the line, and leaves the line with who waits', async () => {
    const places: number[] = [];
    host.beforeAcquire = ({ onWaiting }) => onWaiting?.({ place: 2, reason: 'all are taken' });
    await acquire({ onWaiting: ({ place }: { place: number }) => places.push(place) });
    expect(places).toEqual([2]);
    const left = Promise.withResolvers<void>();
    host.beforeAcquire = ({ signal }) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => {
          left.resolve();
          reject(new Error('left'));
        });
        giveUp.abort(new Error('no longer'));
      });
    const giveUp = new AbortController();
    await expect(acquire({ signal: giveUp.signal })).rejects.toThrow('no longer');
    await left.promise;
  });

  it('hands every call on as it was made, with its caller', async () => {
    const guest = await open();
    const caller = { taskId, fence: 3 };
    await guest.writeFile({ path: 'a', content: '\0🦊', encoding: 'utf8', mode: 0o755 });
    expect((await guest.readFile({ path: 'a', encoding: 'utf8' })).content).toBe('\0🦊');
    await guest.search({ pattern: '-rf', path: '--', ignoreCase: true, timeoutMs: 5_000 });
    await guest.listFiles({ path: '.', depth: 2 });
    await guest.startProcess({ command: 'serve', env: { A: '1' } });
    await guest.readProcess({ processId: 'p/1', offset: 4 });
    await guest.stopProcess({ processId: 'p/1' });
    expect(await guest.readCommand({ callId: 'a/b c' })).toMatchObject({ state: 'ended', exitCode: 3 });
    expect(host.calls.slice(1)).toEqual([
      ['writeFile', { caller, path: 'a', encoding: 'utf8', mode: 0o755 }],
      ['readFile', { caller, path: 'a' }],
      ['search', { caller, pattern: '-rf', path: '--', ignoreCase: true, timeoutMs: 5_000 }],
      ['listFiles', { caller, path: '.', depth: 2 }],
      ['startProcess', { caller, command: 'serve', env: { A: '1' } }],
      ['readProcess', { caller, processId: 'p/1', offset: 4 }],
      ['stopProcess', { caller, processId: 'p/1' }],
      ['readCommand', { caller, callId: 'a/b c' }],
    ]);
  });

  it('carries refusals with their codes and what to do', async () => {
    const guest = await open();
    const error = await guest.readFile({ path: 'none', encoding: 'utf8' }).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ name: 'GuestError', code: 'not-found', hint: 'List the folder.' });
    expect(await codeOf(client.buildImage('unknown'))).toBe('sandbox.no-such-template');
    await client.buildImage('minimal');
    host.beforeAcquire = () => {
      throw new Error('a fault with a secret in it');
    };
    const fault = await acquire().catch((caught: unknown) => caught as Error);
    expect(fault).toMatchObject({ code: 'internal' });
    expect(JSON.stringify(fault)).not.toContain('secret');
  });

  it('carries keys, permits and policies', async () => {
    const { sandboxId } = await acquire();
    const repository = 'ssh://git@git.test/a.git';
    await client.grantRepository(sandboxId, {
      repository,
      privateKey: 'KEY',
      hostKeys: ['h'],
      mayBePrivate: true,
    });
    await client.revokeRepository(sandboxId, repository);
    const permit = await client.allowPush(sandboxId, repository, 60_000);
    await permit.withdraw();
    await permit.withdraw();
    await client.setNetworkPolicy(userId, { packageRegistries: false, hosts: ['*.example.com'] });
    await client.release(sandboxId, { taskId, fence: 1 }, { isBroken: true });
    expect(host.calls.slice(1).map(([name]) => name)).toEqual([
      'grantRepository',
      'revokeRepository',
      'allowPush',
      'withdraw',
      'setNetworkPolicy',
      'release',
    ]);
    expect(host.calls[1]?.[1]).toMatchObject({ privateKey: 'KEY', hostKeys: ['h'], repository });
  });

  it('carries bytes both ways to an sshd, and says what it is to who asks otherwise', async () => {
    const { sandboxId } = await acquire();
    const stream = await client.openSsh(sandboxId, { userId, publicKey: 'ssh-ed25519 AAAA' });
    const sent = Buffer.alloc(3_000_000, 'ssh');
    stream.end(sent);
    expect((await text(stream)).length).toBe(sent.length);
    const query = new URLSearchParams({ userId, publicKey: 'k' }).toString();
    const plain = await ask(`/${sandboxId}/ssh?${query}`, { method: 'POST' });
    expect(await plain.json()).toMatchObject({ status: 426, code: 'sandbox.needs-upgrade' });
  });
});

describe('a command over HTTP', () => {
  it('brings every byte in order, and its result', async () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, index) => index));
    host.run = async (_request, print) => {
      for (let count = 0; count < 1_000; count += 1) await print(bytes);
      return 5;
    };
    const spooled: Buffer[] = [];
    const live: string[] = [];
    const result = await (
      await open()
    ).exec({
      command: 'x',
      timeoutMs: 5_000,
      onOutput: (_stream, part) => live.push(part),
      spool: async (_stream, part) => void spooled.push(Buffer.from(part)),
    });
    expect(result).toMatchObject({ exitCode: 5, stdout: { totalBytes: 256_000, replaced: true } });
    expect(Buffer.concat(spooled).equals(Buffer.concat(Array.from({ length: 1_000 }, () => bytes)))).toBe(
      true,
    );
    expect(live.join('').length).toBeGreaterThan(0);
    const plain = await (await open()).exec({ command: 'x', timeoutMs: 5_000 });
    expect(plain.stdout.totalBytes).toBe(256_000);
  });

  it('waits at its source while nobody reads it', async () => {
    const piece = Buffer.alloc(65_536, 'x');
    let printed = 0;
    host.run = async (_request, print) => {
      for (; printed < 2_000; printed += 1) await print(piece);
      return 0;
    };
    const gate = Promise.withResolvers<void>();
    let atRest = -1;
    let taken = 0;
    const running = (await open()).exec({
      command: 'x',
      timeoutMs: 60_000,
      spool: async (_stream, bytes) => {
        taken += bytes.length;
        await gate.promise;
      },
    });
    // It has come to rest when it has printed no more between two looks.
    while (printed === 0 || printed !== atRest) {
      atRest = printed;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    expect(printed).toBeLessThan(500);
    gate.resolve();
    expect(await running).toMatchObject({ exitCode: 0 });
    expect(taken).toBe(2_000 * piece.length);
  });

  it('is ended with the request that asked for it', async () => {
    const stopped = Promise.withResolvers<void>();
    const giveUp = new AbortController();
    host.run = (request) =>
      new Promise((_resolve, reject) => {
        request.signal?.addEventListener('abort', () => {
          stopped.resolve();
          reject(new Error('stopped'));
        });
        giveUp.abort(new Error('enough'));
      });
    const guest = await open();
    await expect(guest.exec({ command: 'x', timeoutMs: 5_000, signal: giveUp.signal })).rejects.toThrow(
      'enough',
    );
    await stopped.promise;
  });

  it('waits with `accept: application/json`', async () => {
    const { sandboxId } = await acquire();
    const answer = await ask(`/${sandboxId}/exec`, {
      method: 'POST',
      body: JSON.stringify({ command: 'hello', timeoutMs: 1_000, caller: { taskId, fence: 3 } }),
    });
    expect(await answer.json()).toMatchObject({ exitCode: 0, stdout: { text: 'hello\n' } });
  });

  it('is a lost session when the host dies while it runs, and after', async () => {
    const began = Promise.withResolvers<void>();
    host.run = () => {
      began.resolve();
      return new Promise(() => undefined);
    };
    const guest = await open();
    const running = guest.exec({ command: 'x', timeoutMs: 60_000 });
    await began.promise;
    const outcome = codeOf(running);
    app.server.closeAllConnections();
    expect(await outcome).toBe('session-lost');
    await app.close();
    expect(await codeOf(guest.exec({ command: 'x', timeoutMs: 1_000 }))).toBe('session-lost');
    expect(await codeOf(guest.readFile({ path: 'a', encoding: 'utf8' }))).toBe('session-lost');
    expect(await codeOf(client.info())).toBe('sandbox.unreachable');
    expect(await codeOf(acquire())).toBe('sandbox.unreachable');
    await listen(Number(new URL(url).port));
    expect(await client.info()).toMatchObject({ id: 'fake-host', url });
  });

  it('tells something that is no sandbox host apart', async () => {
    const { createServer } = await import('node:http');
    const other = createServer((_request, response) => response.writeHead(502).end('<html>')).listen(
      0,
      '127.0.0.1',
    );
    await once(other, 'listening');
    const stranger = new VmApiClientService({
      url: `http://127.0.0.1:${(other.address() as AddressInfo).port}`,
      token: TOKEN,
    });
    await expect(stranger.info()).rejects.toThrow(/status 502, not as a sandbox host/);
    await stranger.close();
    other.close();
  });
});
