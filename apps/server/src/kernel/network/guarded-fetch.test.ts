import { gzipSync } from 'node:zlib';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import type { GuardOptions } from './guarded-agent.ts';
import { createGuardedFetch, type GuardedFetch } from './guarded-fetch.ts';
import { allowLoopback, openSite, type Site } from './testing/site.ts';
import { TEST_CERTIFICATE } from './testing/test-certificate.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function site(
  answer: (request: IncomingMessage, response: ServerResponse) => void = (_, response) =>
    response.end('hello'),
  options: { secure?: boolean } = {},
): Promise<Site> {
  const opened = await openSite(answer, options);
  closers.push(opened.close);
  return opened;
}

function guard(options: GuardOptions = {}): GuardedFetch {
  const { fetch, close } = createGuardedFetch(options);
  closers.push(close);
  return fetch;
}

const codeOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'no failure',
    (error: Error & { code?: string }) => error.code ?? error.message,
  );

const textOf = async (fetch: GuardedFetch, url: string): Promise<string> =>
  Buffer.from(await (await fetch(url)).bytes()).toString();

describe('the guard with its strict default', () => {
  it.each([
    (port: number) => `http://127.0.0.1:${port}/`,
    (port: number) => `http://2130706433:${port}/`,
    (port: number) => `http://0x7f.1:${port}/`,
    (port: number) => `http://0177.0.0.1:${port}/`,
    (port: number) => `http://127.1:${port}/`,
    (port: number) => `http://①②⑦.⓪.⓪.①:${port}/`,
    (port: number) => `http://127.0.0.1.:${port}/`,
    (port: number) => `http://[::1]:${port}/`,
    (port: number) => `http://[::ffff:7f00:1]:${port}/`,
    (port: number) => `http://[::ffff:127.0.0.1]:${port}/`,
    (port: number) => `http://[::7f00:1]:${port}/`,
    (port: number) => `http://[64:ff9b::a9fe:a9fe]:${port}/`,
    (port: number) => `http://[2002:7f00:1::]:${port}/`,
    (port: number) => `http://localhost:${port}/`,
    (port: number) => `http://localhost.:${port}/`,
    (port: number) => `http://admin.localhost:${port}/`,
    (port: number) => `http://0.0.0.0:${port}/`,
    (port: number) => `http://0:${port}/`,
    () => 'http://100.64.0.1/',
    () => 'http://169.254.169.254/latest/meta-data/',
    () => 'https://10.0.0.5/',
  ])('opens no connection to a local address: %s', async (toUrl) => {
    const local = await site();
    expect(await codeOf(guard()(toUrl(local.port)))).toBe('network.address-refused');
    expect(local.connections()).toBe(0);
  });

  it.each([
    'file:///etc/hostname',
    'ftp://example.com/',
    'data:text/html,hi',
    'javascript:alert(1)',
    'gopher://example.com/',
    '/etc/hostname',
    'example.com',
    'http://',
    'https://user:secret@example.com/',
    'https://token@example.com/',
  ])('refuses what is no plain web address: %s', async (url) => {
    const asked: string[] = [];
    const fetch = guard({
      resolve: async (hostname) => (asked.push(hostname), [{ address: '93.184.215.14', family: 4 }]),
    });
    expect(await codeOf(fetch(url))).toBe('network.unsupported');
    expect(asked).toEqual([]);
  });

  it.each([22, 25, 6000, 6667])('opens no port that browsers refuse: %i', async (port) => {
    expect(await codeOf(guard(allowLoopback())(`http://pages.test:${port}/`))).toBe('network.unsupported');
  });

  it.each([
    ['a private one', [{ address: '10.0.0.5', family: 4 }]],
    [
      'a private one beside a public one',
      [
        { address: '93.184.215.14', family: 4 },
        { address: '10.0.0.5', family: 4 },
      ],
    ],
    ['a mapped one', [{ address: '::ffff:127.0.0.1', family: 6 }]],
  ])('refuses a name whose addresses hold %s', async (_, addresses) => {
    const fetch = guard({ resolve: async () => addresses });
    const failure = await fetch('http://inside.test/').catch((error: unknown) => error as Error);
    expect(failure).toMatchObject({ code: 'network.address-refused' });
    expect((failure as Error).message).not.toMatch(/10\.0\.0\.5|127\.0/);
  });

  it('says when a name does not exist', async () => {
    const missing = Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' });
    expect(await codeOf(guard({ resolve: () => Promise.reject(missing) })('http://nowhere.test/'))).toBe(
      'network.dns',
    );
    expect(await codeOf(guard({ resolve: async () => [] })('http://nowhere.test/'))).toBe('network.dns');
  });
});

describe('a connection', () => {
  it('goes to the address that was checked: there is no second look-up', async () => {
    const page = await site();
    const answers = ['127.0.0.1', '10.0.0.5'];
    const asked: string[] = [];
    const fetch = guard({
      ...allowLoopback(),
      resolve: async (hostname) => (asked.push(hostname), [{ address: answers.shift() ?? '', family: 4 }]),
    });
    expect(await textOf(fetch, `http://flip.test:${page.port}/`)).toBe('hello');
    expect(asked).toEqual(['flip.test']);
    expect(page.requests[0]?.headers.host).toBe(`flip.test:${page.port}`);
  });

  it('is refused when the name leads inside at the next look-up', async () => {
    const local = await site();
    // A public address that nobody answers stands for the first, harmless answer.
    const answers = ['192.0.2.1', '127.0.0.1'];
    const fetch = guard({
      mayConnect: (address) => address === '192.0.2.1',
      resolve: async () => [{ address: answers.shift() ?? '127.0.0.1', family: 4 }],
      connectMs: 200,
    });
    const url = `http://flip.test:${local.port}/`;
    expect(await codeOf(fetch(url))).toMatch(/network\.(timeout|unreachable)/);
    expect(await codeOf(fetch(url))).toBe('network.address-refused');
    expect(local.connections()).toBe(0);
  });

  it('keeps checking the certificate against the name', async () => {
    const page = await site(undefined, { secure: true });
    const trusting = { ...allowLoopback(), ca: TEST_CERTIFICATE };
    expect(await textOf(guard(trusting), `https://pages.test:${page.port}/`)).toBe('hello');
    expect(await codeOf(guard(trusting)(`https://other.test:${page.port}/`))).toBe('network.tls');
    expect(await codeOf(guard(allowLoopback())(`https://pages.test:${page.port}/`))).toBe('network.tls');
    expect(page.requests).toHaveLength(1);
  });

  it('that nobody takes is told without the address', async () => {
    const closed = await site();
    await closed.close();
    const failure = await guard(allowLoopback())(`http://pages.test:${closed.port}/`).catch(
      (error: unknown) => error as Error,
    );
    expect(failure).toMatchObject({ code: 'network.unreachable' });
    expect((failure as Error).message).not.toContain('127.0.0.1');
  });
});

describe('a redirect', () => {
  const redirectTo = (location: string | (() => string), status = 302) =>
    site((request, response) => {
      if (request.url === '/end') return response.end('the end');
      response.writeHead(status, { location: typeof location === 'string' ? location : location() }).end();
    });

  it('is followed, relative ones too, and the final address is told', async () => {
    const page = await redirectTo('/end');
    const response = await guard(allowLoopback())(`http://pages.test:${page.port}/start#part`);
    expect(response.url).toBe(`http://pages.test:${page.port}/end`);
    expect(response.redirects).toEqual([`http://pages.test:${page.port}/start`]);
    expect(Buffer.from(await response.bytes()).toString()).toBe('the end');
  });

  it.each([
    'http://169.254.169.254/latest/',
    'http://[::1]/',
    'http://10.0.0.5/',
    '//localhost/',
    'http://2130706434/',
  ])('to a local address is refused: %s', async (location) => {
    const page = await redirectTo(location);
    expect(await codeOf(guard(allowLoopback())(`http://pages.test:${page.port}/`))).toBe(
      'network.address-refused',
    );
  });

  it.each(['file:///etc/hostname', 'https://user:secret@example.com/', 'data:text/html,x'])(
    'to what is no plain web address is refused: %s',
    async (location) => {
      const page = await redirectTo(location);
      expect(await codeOf(guard(allowLoopback())(`http://pages.test:${page.port}/`))).toBe(
        'network.unsupported',
      );
    },
  );

  it('from a secure address to an insecure one is refused', async () => {
    const plain = await site();
    const secure = await site(
      (_, response) => response.writeHead(301, { location: `http://pages.test:${plain.port}/` }).end(),
      { secure: true },
    );
    const fetch = guard({ ...allowLoopback(), ca: TEST_CERTIFICATE });
    expect(await codeOf(fetch(`https://pages.test:${secure.port}/`))).toBe('network.downgrade');
    expect(plain.connections()).toBe(0);
  });

  it('is followed five times, not six', async () => {
    const page = await site((request, response) => {
      const left = Number(request.url?.slice(1));
      if (left === 0) response.end('there');
      else response.writeHead(302, { location: `/${left - 1}` }).end();
    });
    const fetch = guard(allowLoopback());
    expect(await textOf(fetch, `http://pages.test:${page.port}/5`)).toBe('there');
    expect(await codeOf(fetch(`http://pages.test:${page.port}/6`))).toBe('network.redirects');
  });

  it.each([
    ['another host', (port: number) => `http://other.test:${port}/end`],
    ['another port', (_: number, otherPort: number) => `http://pages.test:${otherPort}/end`],
  ])('to %s takes no credential along', async (_, toLocation) => {
    const other = await site();
    const page: Site = await redirectTo(() => toLocation(page.port, other.port));
    await guard(allowLoopback())(`http://pages.test:${page.port}/?token=t0psecret`, {
      headers: {
        Authorization: 'Bearer t0psecret',
        'X-API-Key': 't0psecret',
        Cookie: 'a=t0psecret',
        Accept: 'text/html',
      },
    });
    const first = page.requests[0];
    expect(first?.headers).toMatchObject({ authorization: 'Bearer t0psecret', 'x-api-key': 't0psecret' });
    const second = page.requests[1] ?? other.requests[0];
    expect(second?.url).toBe('/end');
    expect(second?.headers.accept).toBe('text/html');
    expect(JSON.stringify(second)).not.toContain('t0psecret');
  });

  it('within the origin keeps the credential', async () => {
    const page = await redirectTo('/end');
    await guard(allowLoopback())(`http://pages.test:${page.port}/`, { headers: { 'x-api-key': 'k' } });
    expect(page.requests[1]?.headers['x-api-key']).toBe('k');
  });

  it.each([301, 302, 303])('of a POST by %i becomes a GET without the body', async (status) => {
    const page = await redirectTo('/end', status);
    await guard(allowLoopback())(`http://pages.test:${page.port}/`, {
      method: 'POST',
      body: 'a=1',
      headers: { 'content-type': 'text/plain' },
    });
    expect(page.requests.map(({ method, body }) => `${method} ${body}`)).toEqual(['POST a=1', 'GET ']);
    expect(page.requests[1]?.headers['content-type']).toBeUndefined();
  });

  it.each([307, 308])('of a POST by %i sends the body again to the same origin alone', async (status) => {
    const other = await site();
    const page: Site = await site((request, response) => {
      if (request.url === '/end') return response.end();
      const location = request.url === '/out' ? `http://other.test:${other.port}/` : '/end';
      response.writeHead(status, { location }).end();
    });
    const post = { method: 'POST', body: 'a=1' } as const;
    await guard(allowLoopback())(`http://pages.test:${page.port}/`, post);
    expect(page.requests[1]).toMatchObject({ method: 'POST', body: 'a=1' });
    expect(await codeOf(guard(allowLoopback())(`http://pages.test:${page.port}/out`, post))).toBe(
      'network.redirects',
    );
    expect(other.connections()).toBe(0);
  });

  it('is left to the caller, or kept to the origin, when asked', async () => {
    const page: Site = await redirectTo(() => `http://other.test:${page.port}/end`);
    const fetch = guard(allowLoopback());
    const url = `http://pages.test:${page.port}/`;
    expect(await codeOf(fetch(url, { redirects: 'same-origin' }))).toBe('network.redirects');
    const returned = await fetch(url, { redirects: 'return' });
    expect(returned.status).toBe(302);
    expect(returned.headers.get('location')).toBe(`http://other.test:${page.port}/end`);
  });

  it("asks the caller's own rule at each hop", async () => {
    const page: Site = await redirectTo(() => `http://other.test:${page.port}/end`);
    const refuseUrl = (url: URL) => (url.hostname === 'other.test' ? 'Not on the list.' : null);
    const url = `http://pages.test:${page.port}/`;
    expect(await codeOf(guard(allowLoopback())(url, { refuseUrl }))).toBe('network.host-refused');
    expect(page.requests).toHaveLength(1);
  });
});

describe('a limit', () => {
  it('stops a body that never ends, and its sender', async () => {
    let sent = 0;
    let isStopped = false;
    const page = await site((_, response) => {
      const chunk = Buffer.alloc(64 * 1024, 'x');
      response.on('close', () => (isStopped = true));
      const pump = () => {
        while (!isStopped && sent < 2 ** 31) {
          sent += chunk.length;
          if (!response.write(chunk)) return void response.once('drain', pump);
        }
      };
      pump();
    });
    const response = await guard(allowLoopback())(`http://pages.test:${page.port}/`, { maxBytes: 1_000_000 });
    expect(await codeOf(response.bytes())).toBe('network.too-large');
    await expect.poll(() => isStopped).toBe(true);
    expect(sent).toBeLessThan(100_000_000);
  });

  it('refuses a body that says it is too large before a byte of it is read', async () => {
    const page = await site((_, response) => {
      response.writeHead(200, { 'content-length': String(2 ** 31) });
      response.flushHeaders();
    });
    const response = await guard(allowLoopback())(`http://pages.test:${page.port}/`);
    expect(await codeOf(response.bytes())).toBe('network.too-large');
  });

  it.each(['gzip', 'gzip, gzip'])('counts what a body unpacks to (%s)', async (encoding) => {
    let bomb: Buffer = gzipSync(Buffer.alloc(200_000_000));
    if (encoding.includes(',')) bomb = gzipSync(bomb);
    expect(bomb.length).toBeLessThan(1_000_000);
    const page = await site((_, response) =>
      response.writeHead(200, { 'content-encoding': encoding }).end(bomb),
    );
    const before = process.memoryUsage().rss;
    const response = await guard(allowLoopback())(`http://pages.test:${page.port}/`);
    expect(await codeOf(response.bytes())).toBe('network.too-large');
    expect(process.memoryUsage().rss - before).toBeLessThan(150_000_000);
  });

  it('bounds the headers', async () => {
    const page = await site((_, response) =>
      response.writeHead(200, { 'x-long': 'x'.repeat(200_000) }).end(),
    );
    expect(await codeOf(guard(allowLoopback())(`http://pages.test:${page.port}/`))).toBe('network.too-large');
  });

  it('ends a body that drips on and on', async () => {
    const page = await site((_, response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write('.'), 20);
      response.on('close', () => clearInterval(timer));
    });
    const response = await guard(allowLoopback())(`http://pages.test:${page.port}/`, { totalMs: 300 });
    expect(await codeOf(response.bytes())).toBe('network.timeout');
  });

  it('ends a wait for headers, and a chain of slow redirects', async () => {
    const silent = await site(() => undefined);
    const fetch = guard(allowLoopback());
    expect(await codeOf(fetch(`http://pages.test:${silent.port}/`, { totalMs: 200 }))).toBe(
      'network.timeout',
    );
    const slow = await site((_, response) => {
      setTimeout(() => response.writeHead(302, { location: '/' }).end(), 100);
    });
    expect(await codeOf(fetch(`http://pages.test:${slow.port}/`, { totalMs: 250 }))).toBe('network.timeout');
  });

  it('ends a look-up that takes too long', async () => {
    const fetch = guard({ resolve: () => new Promise(() => undefined), connectMs: 200 });
    expect(await codeOf(fetch('http://pages.test/'))).toBe('network.timeout');
  });
});

describe('a request', () => {
  it("ends with the reason of its caller's signal, in the body too", async () => {
    const page = await site((_, response) => {
      response.writeHead(200);
      response.write('begin');
    });
    const controller = new AbortController();
    const response = await guard(allowLoopback())(`http://pages.test:${page.port}/`, {
      signal: controller.signal,
    });
    const reading = response.bytes();
    controller.abort(new Error('cancelled by the user'));
    await expect(reading).rejects.toThrow('cancelled by the user');
  });

  it('unpacks what browsers unpack', async () => {
    const page = await site((_, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('packed')),
    );
    expect(await textOf(guard(allowLoopback()), `http://pages.test:${page.port}/`)).toBe('packed');
  });

  it('fails on a broken archive and on an answer that is cut off', async () => {
    const broken = await site((_, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end('this is no gzip'),
    );
    const cut = await site((_, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('half', () => response.destroy());
    });
    const fetch = guard(allowLoopback());
    const bytesOf = async (url: string) => (await fetch(url)).bytes();
    expect(await codeOf(bytesOf(`http://pages.test:${broken.port}/`))).toBe('network.bad-response');
    expect(await codeOf(bytesOf(`http://pages.test:${cut.port}/`))).toBe('network.cut');
  });

  it('takes no host header from its caller', async () => {
    await expect(guard(allowLoopback())('http://pages.test/', { headers: { Host: 'x' } })).rejects.toThrow(
      TypeError,
    );
  });
});
