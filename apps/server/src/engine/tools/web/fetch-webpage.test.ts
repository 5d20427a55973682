import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { createGuardedFetch } from '../../../kernel/network/guarded-fetch.ts';
import { allowLoopback, openSite } from '../../../kernel/network/testing/site.ts';
import type { ToolContext, ToolResult } from '../tool.ts';
import { createWebTools } from './index.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const context = (signal = new AbortController().signal): ToolContext =>
  ({ signal, task: { id: 't', userId: 'u' } }) as unknown as ToolContext;

type Args = { maxLength?: number; raw?: boolean };

async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const site = await openSite(answer);
  const { fetch, close } = createGuardedFetch(allowLoopback());
  closers.push(site.close, close);
  const [tool] = createWebTools({ fetch }).tools;
  const base = `http://site.test:${site.port}`;
  const run = (path = '/', args: Args = {}, signal?: AbortSignal): Promise<ToolResult> =>
    tool?.run({ url: base + path, ...args }, context(signal)) as Promise<ToolResult>;
  return { base, site, run };
}

const answerWith =
  (body: string | Buffer, type = 'text/html', status = 200) =>
  (_: IncomingMessage, response: ServerResponse) =>
    void response.writeHead(status, { 'content-type': type }).end(body);

describe('fetch_webpage', { timeout: 30_000 }, () => {
  it('gives the readable text of a page with its title and final address', async () => {
    const { run, base } = await serve((request, response) => {
      if (request.url !== '/end') return response.writeHead(302, { location: '/end' }).end();
      return answerWith('<title>A &amp; B</title><h1>Head</h1><p>See <a href="x">x</a>.')(request, response);
    });
    const result = await run('/start');
    expect(result).toMatchObject({
      status: 'ok',
      untrusted: `${base}/end`,
      data: { url: `${base}/end`, status: 200, title: 'A & B', contentType: 'text/html' },
    });
    expect(result.text).toContain('Title: A & B');
    expect(result.text).toContain(`URL: ${base}/end`);
    expect(result.text).toContain(`# Head\n\nSee [x](${base}/x).`);
  });

  it('decodes what the server and the page say', async () => {
    const { run } = await serve((request, response) => {
      const cyrillic = Buffer.from([0xcf, 0xf0, 0xe8]);
      if (request.url === '/header')
        return answerWith(cyrillic, 'text/html; charset=windows-1251')(request, response);
      answerWith(Buffer.concat([Buffer.from('<meta charset=windows-1251>'), cyrillic]))(request, response);
    });
    expect((await run('/header')).text).toContain('При');
    expect((await run('/meta')).text).toContain('При');
  });

  it.each([
    ['text/plain', 'a <b> c'],
    ['application/json', '{"a": 1}'],
    ['text/markdown; charset=utf-8', '# Head'],
    ['application/rss+xml', '<rss></rss>'],
  ])('shows %s as it is', async (type, body) => {
    const { run } = await serve(answerWith(body, type));
    expect((await run()).text).toMatch(new RegExp(`\\n\\n${body.replace(/[{}]/g, '\\$&')}$`));
  });

  it('gives the source when asked', async () => {
    const { run } = await serve(answerWith('<p class="x">a</p>'));
    expect((await run('/', { raw: true })).text).toContain('<p class="x">a</p>');
  });

  it('cuts to the length that was asked for and says so', async () => {
    const { run } = await serve(answerWith('x'.repeat(1_000), 'text/plain'));
    const { text } = await run('/', { maxLength: 100 });
    expect(text).toMatch(/\n\nx{100}$/);
    expect(text).toContain('900 characters are not shown');
  });

  it('says what it left out as hidden', async () => {
    const { run } = await serve(
      answerWith('<p hidden>obey</p><p>a\u200bb\u{e0041}</p>', 'text/html; charset=utf-8'),
    );
    const { text } = await run();
    expect(text).toMatch(/\n\nab$/);
    expect(text).not.toContain('obey');
    expect(text).toContain('1 hidden elements');
    expect(text).toContain('2 invisible characters');
  });

  it.each(['image/png', 'application/pdf', 'application/octet-stream'])(
    'refuses %s with its type and size',
    async (type) => {
      const { run } = await serve((_, response) =>
        response.writeHead(200, { 'content-type': type, 'content-length': '5' }).end('12345'),
      );
      const result = await run();
      expect(result).toMatchObject({ status: 'error', data: { code: 'web.unsupported-content' } });
      expect(result.text).toContain(`${type} (5 bytes)`);
    },
  );

  it('reads an answer without a type by its look', async () => {
    const { run } = await serve((request, response) =>
      response.end(request.url === '/page' ? '<!doctype html><p>hi' : Buffer.from([1, 0, 2])),
    );
    expect((await run('/page')).text).toMatch(/\n\nhi$/);
    expect(await run('/bytes')).toMatchObject({ status: 'error', data: { code: 'web.unsupported-content' } });
  });

  it('tells the status of a failed request, with the words of the page as untrusted', async () => {
    const { run, base } = await serve(answerWith('<p>no such thing', 'text/html', 404));
    const result = await run();
    expect(result).toMatchObject({
      status: 'error',
      untrusted: `${base}/`,
      data: { code: 'network.http-status', status: 404 },
    });
    expect(result.text).toContain('answered 404');
    expect(result.text).toContain('no such thing');
  });

  it('tells why an address is not opened, with no connection made', async () => {
    const { site } = await serve(answerWith('x'));
    const { fetch, close } = createGuardedFetch();
    closers.push(close);
    const [tool] = createWebTools({ fetch }).tools;
    const result = await tool?.run({ url: `http://127.1:${site.port}/` }, context());
    expect(result).toMatchObject({ status: 'error', data: { code: 'network.address-refused' } });
    expect(result).not.toHaveProperty('untrusted');
    expect(site.connections()).toBe(0);
  });

  it("follows the policy of the task's user", async () => {
    const { fetch, close } = createGuardedFetch(allowLoopback());
    closers.push(close);
    const refuseUrl = (url: URL, task: { userId: string }) =>
      `${url.hostname} is not open to ${task.userId}.`;
    const [tool] = createWebTools({ fetch, refuseUrl }).tools;
    const result = (await tool?.run({ url: 'http://site.test/' }, context())) as ToolResult;
    expect(result.text).toBe('network.host-refused: site.test is not open to u.');
  });

  it('ends when its signal aborts', async () => {
    const controller = new AbortController();
    const { run } = await serve(() => controller.abort(new Error('cancelled')));
    await expect(run('/', {}, controller.signal)).rejects.toThrow('cancelled');
  });

  it('reads only the first part of a page of very many elements', async () => {
    const { run } = await serve(answerWith(`<p>first</p>${'<br>'.repeat(90_000)}<p>last</p>`));
    const { text } = await run();
    expect(text).toContain('first');
    expect(text).not.toContain('last');
    expect(text).toContain('of the source were read');
  }, 30_000);
});
