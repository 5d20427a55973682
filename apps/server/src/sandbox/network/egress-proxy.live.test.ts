import type { LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { duplexPair } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../kernel/logger.ts';
import { createDial, type Dial } from '../../kernel/network/dial.ts';
import { allowLoopback, openSite, type Site } from '../../kernel/network/testing/site.ts';
import { EgressProxy, type EgressProxyOptions } from './egress-proxy.ts';
import { openStream, readAll, readUntil, say } from './testing/guest-stream.ts';

const closers: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

const POLICY = { packageRegistries: false, hosts: ['good.example', 'other.example'] };

function openProxy(dial: Dial, options: Partial<EgressProxyOptions> = {}): EgressProxy {
  const proxy = new EgressProxy({ vmId: 'vm', policy: POLICY, logger: silentLogger, dial, ...options });
  closers.push(() => proxy.close());
  return proxy;
}

/** Every name leads to 127.0.0.1, where a test's server stands in for the ports of the web. */
function dialTo(port: number): Dial {
  const dial = createDial(allowLoopback());
  return (host) => dial(host, port);
}

async function serve(answer: Parameters<typeof openSite>[0]): Promise<Site> {
  const site = await openSite(answer);
  closers.push(site.close);
  return site;
}

async function serveRaw(
  onConnection: (socket: Socket) => void,
): Promise<{ port: number; sockets: Socket[] }> {
  const sockets: Socket[] = [];
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    onConnection(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return { port: (server.address() as AddressInfo).port, sockets };
}

describe('what is allowed', () => {
  it('goes through a tunnel both ways, with each end closed on its own', async () => {
    const echo = await serveRaw((socket) =>
      socket.on('data', (data) => socket.write(data)).on('end', () => socket.end('bye')),
    );
    const proxy = openProxy(dialTo(echo.port));
    const guest = openStream(proxy);
    guest.write('CONNECT good.example:443 HTTP/1.1\r\nHost: good.example:443\r\n\r\nearly');
    await readUntil(guest, 'early');
    guest.end('late');
    expect(await readAll(guest)).toBe('latebye');
    expect(proxy.traffic()).toEqual([
      { host: 'good.example', connections: 1, sentBytes: 9, receivedBytes: 12 },
    ]);
  });

  it('goes through as a plain request, with its own Host and without what belongs to the connection', async () => {
    const site = await serve((_, response) => {
      response.writeHead(200, { 'x-a': '1', connection: 'x-hop', 'x-hop': 'h', 'set-cookie': ['a', 'b'] });
      response.end('hello');
    });
    const proxy = openProxy(dialTo(site.port));
    const guest = openStream(proxy);
    guest.write(
      'POST http://good.example/p?q HTTP/1.1\r\nHost: evil.example\r\nProxy-Authorization: Basic eA==\r\nTransfer-Encoding: chunked\r\nX-Kept: k\r\n\r\n3\r\nabc\r\n0\r\n\r\n',
    );
    const first = await readUntil(guest, 'hello');
    expect(first).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(first).toContain('set-cookie: a\r\nset-cookie: b\r\n');
    expect(first).not.toContain('x-hop');
    // The connection of the guest stays, for the next request.
    guest.write('GET http://other.example/2 HTTP/1.1\r\nHost: other.example\r\n\r\n');
    await readUntil(guest, 'hello');
    guest.destroy();
    expect(site.requests).toMatchObject([
      {
        method: 'POST',
        url: '/p?q',
        body: 'abc',
        headers: { host: 'good.example', 'x-kept': 'k', via: '1.1 vitto' },
      },
      { method: 'GET', url: '/2', headers: { host: 'other.example' } },
    ]);
    expect(site.requests[0]?.headers).not.toHaveProperty('proxy-authorization');
  });

  it('goes out one request after the other, however many a guest sends ahead', async () => {
    let open = 0;
    let mostOpen = 0;
    const site = await serve((request, response) => {
      mostOpen = Math.max(mostOpen, ++open);
      response.once('close', () => open--);
      response.end(`<${request.url}>`);
    });
    const guest = openStream(openProxy(dialTo(site.port)));
    const ask = (n: number) => `GET http://good.example/${n} HTTP/1.1\r\nHost: a\r\n\r\n`;
    guest.write(Array.from({ length: 10 }, (_, n) => ask(n)).join(''));
    const answers = await readUntil(guest, '</9>');
    expect(answers.match(/<[^>]+>/g)).toEqual(Array.from({ length: 10 }, (_, n) => `</${n}>`));
    expect(mostOpen).toBe(1);
    guest.destroy();
  });

  it('waits for a guest that does not read', async () => {
    let written = 0;
    const flood = await serveRaw((socket) => {
      const more = () => {
        while (socket.write(Buffer.alloc(65_536))) written += 65_536;
      };
      socket.on('drain', more);
      more();
    });
    const guest = openStream(openProxy(dialTo(flood.port)));
    guest.write('CONNECT good.example:443 HTTP/1.1\r\n\r\n');
    await new Promise((resolve) => guest.once('readable', resolve));
    // It has stopped when a turn of the loop that serves other connections moves nothing more.
    let before = -1;
    while (before !== written) {
      before = written;
      await say(openProxy(dialTo(flood.port)), 'CONNECT bad.example:443 HTTP/1.1\r\n\r\n');
    }
    expect(written).toBeLessThan(32 * 1024 * 1024);
  });
});

describe('what is not allowed', () => {
  it.each([
    ['CONNECT evil.example:443', 'evil.example is not on the list of allowed hosts'],
    ['CONNECT 127.0.0.1:443', 'addresses are not connected to'],
    ['CONNECT 2130706433:443', 'addresses are not connected to'],
    ['CONNECT [::ffff:7f00:1]:443', 'addresses are not connected to'],
    ['CONNECT localhost:443', 'names without a dot'],
    ['CONNECT a@good.example:443', 'user name'],
    ['CONNECT good.example:22', 'port 22'],
    ['GET http://169.254.169.254/latest', 'addresses are not connected to'],
    ['GET http://good.example@evil.example/', 'user name'],
    ['GET http://evil.example/', 'not on the list'],
    ['GET https://good.example/', 'https goes through the proxy by CONNECT'],
    ['GET /admin', 'this is a proxy'],
    ['OPTIONS *', 'only http and https'],
  ])('%s says why, and reaches nothing', async (line, why) => {
    const site = await serve((_, response) => response.end('reached'));
    const answer = await say(openProxy(dialTo(site.port)), `${line} HTTP/1.1\r\nHost: good.example\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 403 [^\r\n]+\r\n/);
    expect(answer).toContain(why);
    expect(site.connections()).toBe(0);
  });

  it.each([
    [
      'two lengths',
      'POST http://good.example/ HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef',
    ],
    [
      'a length and chunks',
      'POST http://good.example/ HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['a header that is folded', 'GET http://good.example/ HTTP/1.1\r\nHost: a\r\nX: a\r\n b\r\n\r\n'],
    ['a space before the colon', 'GET http://good.example/ HTTP/1.1\r\nHost : a\r\n\r\n'],
    [
      'headers beyond the limit',
      `GET http://good.example/ HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
    ],
    ['no HTTP', '\x16\x03\x01\x02\x00\x01\x00'],
  ])('%s are not sent on', async (_, text) => {
    const site = await serve((__, response) => response.end('reached'));
    const answer = await say(openProxy(dialTo(site.port)), text);
    expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect(site.connections()).toBe(0);
  });

  it.each([
    '127.0.0.1',
    '10.0.0.5',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
    '::1',
    '::ffff:127.0.0.1',
    '64:ff9b::a9fe:a9fe',
    '2002:7f00:1::',
    'fd00:ec2::254',
    'fe80::1',
    '168.63.129.16',
  ])('an allowed name that leads to %s is not connected to', async (address) => {
    const addresses: LookupAddress[] = [
      { address: '93.184.216.34', family: 4 },
      { address, family: address.includes(':') ? 6 : 4 },
    ];
    const proxy = openProxy(createDial({ resolve: async () => addresses }));
    const answer = await say(proxy, 'CONNECT good.example:443 HTTP/1.1\r\n\r\n');
    expect(answer).toContain('403 good.example leads to an address that is not on the public internet');
    expect(answer).not.toContain(address);
    expect(proxy.traffic()).toEqual([]);
  });

  it('a name is looked up once a connection: what it flips to is checked the next time', async () => {
    const site = await serve((_, response) => response.end('reached'));
    const answers = ['127.0.0.1', '127.0.0.2'];
    const lookups: string[] = [];
    const dial = createDial({
      resolve: async () => {
        const address = answers[lookups.length] ?? '';
        lookups.push(address);
        return [{ address, family: 4 }];
      },
      mayConnect: (address) => address === '127.0.0.1',
    });
    const proxy = openProxy((host) => dial(host, site.port));
    const ask = 'GET http://good.example/ HTTP/1.1\r\nHost: good.example\r\nConnection: close\r\n\r\n';
    expect(await say(proxy, ask)).toContain('reached');
    expect(await say(proxy, ask)).toContain('not on the public internet');
    expect(lookups).toEqual(answers);
    expect(site.connections()).toBe(1);
  });

  it('a name that is not allowed is not even looked up', async () => {
    const lookups: string[] = [];
    const proxy = openProxy(createDial({ resolve: async (host) => (lookups.push(host), []) }));
    await say(proxy, 'CONNECT secret-in-a-name.evil.example:443 HTTP/1.1\r\n\r\n');
    expect(lookups).toEqual([]);
  });

  it('a redirect is an answer: where it leads is asked for anew, and refused', async () => {
    const site = await serve((_, response) =>
      response.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
    );
    const proxy = openProxy(dialTo(site.port));
    const answer = await say(
      proxy,
      'GET http://good.example/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
    );
    expect(answer).toContain('302 Found');
    expect(await say(proxy, 'GET http://169.254.169.254/ HTTP/1.1\r\nHost: a\r\n\r\n')).toContain(' 403 ');
  });
});

describe('what ends', () => {
  it('a connection whose host is taken from the list', async () => {
    const open = await serveRaw((socket) => socket.write('hello'));
    const proxy = openProxy(dialTo(open.port));
    const [kept, cut] = [openStream(proxy), openStream(proxy)];
    kept.write('CONNECT other.example:443 HTTP/1.1\r\n\r\n');
    cut.write('CONNECT good.example:443 HTTP/1.1\r\n\r\n');
    await Promise.all([readUntil(kept, 'hello'), readUntil(cut, 'hello')]);
    proxy.setPolicy({ packageRegistries: false, hosts: ['other.example'] });
    await readAll(cut);
    kept.write('still there');
    expect(kept.destroyed).toBe(false);
  });

  it('one that is idle, with or without a request, and all of them with the VM', async () => {
    const silent = await serveRaw(() => undefined);
    const idle = openProxy(dialTo(silent.port), { idleMs: 30 });
    await readAll(openStream(idle));
    const tunnel = openStream(idle);
    tunnel.write('CONNECT good.example:443 HTTP/1.1\r\n\r\n');
    await readAll(tunnel);
    const proxy = openProxy(dialTo(silent.port));
    const guest = openStream(proxy);
    guest.write('CONNECT good.example:443 HTTP/1.1\r\n\r\n');
    await readUntil(guest, '\r\n\r\n');
    proxy.close();
    await readAll(guest);
    expect(await readAll(openStream(proxy))).toBe('');
  });

  it('one that asks for far more than it waits for', async () => {
    const silent = await serveRaw(() => undefined);
    const guest = openStream(openProxy(dialTo(silent.port)));
    guest.write('GET http://good.example/ HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(1000));
    expect(await readAll(guest)).toBe('');
    expect(silent.sockets.length).toBeLessThanOrEqual(1);
  });

  it('one that is refused, though the guest keeps it open', async () => {
    const proxy = openProxy(dialTo(1), { idleMs: 30 });
    const [guest, host] = duplexPair();
    proxy.accept(host);
    guest.write('CONNECT evil.example:443 HTTP/1.1\r\n\r\n');
    guest.resume();
    await once(host, 'close');
  });

  it('more connections at once than one VM may have', async () => {
    const proxy = openProxy(dialTo(1));
    const open = Array.from({ length: 64 }, () => openStream(proxy));
    expect(await readAll(openStream(proxy))).toContain('503 More than 64 connections at once');
    for (const guest of open) guest.destroy();
  });
});
