import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createClient, type Answer, type Call } from './testing/api-client.ts';
import { createHttpTestbed, type HttpTestbed } from './testing/http-testbed.ts';

let bed: HttpTestbed;
let folder: string;
let page: (path: string, call?: Call) => Promise<Answer>;
beforeAll(async () => {
  bed = await createHttpTestbed();
  folder = await mkdtemp(join(tmpdir(), 'vitto-web-'));
  const webRoot = join(folder, 'dist');
  await mkdir(join(webRoot, 'assets'), { recursive: true });
  await writeFile(join(folder, 'outside.txt'), 'outside');
  await writeFile(join(webRoot, 'index.html'), '<!doctype html><title>Vitto</title>');
  await writeFile(join(webRoot, 'assets', 'app-4f3a.js'), 'export {}');
  await writeFile(join(webRoot, '.env'), 'SECRET=1');
  page = createClient((await bed.startServer({ webRoot })).url);
});
afterAll(async () => {
  await bed.close();
  await rm(folder, { recursive: true });
});

it('serves its first page for every page address, always asked for anew', async () => {
  for (const path of ['/', '/vitto', '/operations/live', '/vitto/inbox?task=1', '/sign-in']) {
    const answer = await page(path);
    expect(answer).toMatchObject({ status: 200, text: expect.stringContaining('<title>Vitto</title>') });
    expect(answer.headers.get('cache-control')).toBe('no-cache');
    expect(answer.headers.get('content-type')).toContain('text/html');
  }
});

it('serves hashed files for good, and nothing that is missing, hidden or outside', async () => {
  const script = await page('/assets/app-4f3a.js');
  expect(script).toMatchObject({ status: 200, text: 'export {}' });
  expect(script.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  expect(script.headers.get('content-type')).toContain('javascript');
  for (const path of [
    '/assets/gone.js',
    '/.env',
    '/../outside.txt',
    '/%2e%2e/outside.txt',
    '/..%2foutside.txt',
    '/assets/%00.js',
  ]) {
    const answer = await page(path);
    expect([400, 403, 404], path).toContain(answer.status);
    expect(answer.headers.get('content-type'), path).toMatch(/^application\/problem\+json/);
  }
});

it('says with each page what it may load and that nobody may frame it', async () => {
  const csp = (await page('/vitto')).headers.get('content-security-policy') ?? '';
  expect(csp).toContain("default-src 'self'");
  expect(csp).toContain("frame-ancestors 'none'");
  expect(csp).not.toContain('unsafe');
});

it('says how to build the web app when it is not built', async () => {
  const bare = createClient((await bed.startServer()).url);
  expect(await bare('/vitto')).toMatchObject({
    status: 503,
    text: expect.stringContaining('npm run build:web'),
  });
  expect((await bare('/api/nothing')).json).toMatchObject({ status: 404 });
});
