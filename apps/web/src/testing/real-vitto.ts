import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import type { Browser, BrowserContext, Page } from 'playwright-core';

const ROOT = join(import.meta.dirname, '../../../..');
const MAIN = join(ROOT, 'apps/server/src/main.ts');

/** The whole product as it is shipped: a process of its own, a database of its own, the built web app. */
export interface RealVitto {
  url: string;
  home: string;
  databaseUrl: string;
  /** Calls the API with the token of the command line. */
  call: <T>(method: string, path: string, body?: unknown) => Promise<{ status: number; body: T }>;
  /** Writes a script of the scripted model and gives its name as a model: `script:FILE`. */
  writeScript: (name: string, yaml: string) => Promise<string>;
  /** Kills the server process; `start` brings it back on the same port. */
  kill: () => Promise<void>;
  start: () => Promise<void>;
  end: () => Promise<void>;
}

/** Builds the web app where the server serves it from, if its sources have changed; what is served meanwhile stays whole. */
export async function buildWebApp(): Promise<void> {
  await promisify(execFile)(process.execPath, [join(ROOT, 'scripts/vitto.mjs'), 'build:web'], { cwd: ROOT });
}

export async function startRealVitto(environment: Record<string, string> = {}): Promise<RealVitto> {
  const home = await mkdtemp(join(tmpdir(), 'vitto-web-'));
  const database = await createDatabase();
  let port = '0';
  let server: Awaited<ReturnType<typeof launch>> | null = null;
  const start = async () => {
    server = await launch({
      VITTO_HOME: home,
      // What these tests look at is the same in the process sandbox, which needs no image.
      VITTO_VM_PROVIDER: 'none',
      VITTO_VM_DEGRADE: 'allow',
      HOME: home,
      DATABASE_URL: database.url,
      VITTO_PORT: port,
      ...environment,
    });
    port = new URL(server.url).port;
  };
  await start();
  const url = `http://127.0.0.1:${port}`;
  const token = (await readFile(join(home, 'cli-token'), 'utf8')).trim();
  return {
    url,
    home,
    databaseUrl: database.url,
    call: (method, path, body) => call(url, token, method, path, body),
    writeScript: async (name, yaml) => {
      const file = join(home, `${name}.yaml`);
      await writeFile(file, yaml);
      return `script:${file}`;
    },
    kill: async () => server?.end('SIGKILL'),
    start,
    end: async () => {
      await server?.end('SIGTERM');
      await database.drop();
      await rm(home, { recursive: true, force: true });
      await removeDataOf(home);
    },
  };
}

/** A page that is signed in as the owner, and what it did that it should not. */
export async function openPage(
  browser: Browser,
  vitto: RealVitto,
  options: { width?: number; height?: number; dark?: boolean; locale?: string } = {},
): Promise<{ page: Page; context: BrowserContext; errors: string[]; strangers: string[] }> {
  const context = await browser.newContext({
    viewport: { width: options.width ?? 1280, height: options.height ?? 800 },
    colorScheme: options.dark === true ? 'dark' : 'light',
    locale: options.locale ?? 'en-GB',
  });
  const page = await context.newPage();
  const errors: string[] = [];
  const strangers: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      errors.push(message.text());
  });
  context.on('request', (request) => {
    const { protocol, origin } = new URL(request.url());
    if (protocol.startsWith('http') && origin !== vitto.url) strangers.push(request.url());
  });
  await signIn(vitto, context, page);
  return { page, context, errors, strangers };
}

/** The session of each product under test: signing in is limited to ten a minute, pages are opened more often. */
const sessions = new WeakMap<RealVitto, Awaited<ReturnType<BrowserContext['cookies']>>>();

async function signIn(vitto: RealVitto, context: BrowserContext, page: Page): Promise<void> {
  await context.addCookies(sessions.get(vitto) ?? []);
  const session = await context.request.get(`${vitto.url}/api/session`);
  if (session.ok()) {
    await page.goto(`${vitto.url}/vitto`);
    return;
  }
  const { body } = await vitto.call<{ code: string }>('POST', '/api/sign-in-codes', {});
  await page.goto(`${vitto.url}/sign-in#code=${body.code}`);
  await page.waitForURL(`${vitto.url}/vitto`);
  sessions.set(vitto, await context.cookies());
}

async function launch(environment: Record<string, string>) {
  const child = spawn(process.execPath, [MAIN, '--no-open'], {
    env: { PATH: process.env['PATH'] ?? '', VITTO_LOG_LEVEL: 'warn', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const exited = new Promise<number | null>((resolve) => child.on('exit', resolve));
  const url = await new Promise<string>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      output += chunk.toString();
      const ready = /Vitto is ready: (http:\S+)/.exec(output)?.[1];
      if (ready !== undefined) resolve(ready);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    void exited.then((code) => reject(new Error(`Vitto ended with ${code} before it was ready:\n${output}`)));
  });
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    await exited;
  };
  return { url, end };
}

/** A Vitto of root keeps its sandboxes where other system users can reach them; each folder says whose it is. */
async function removeDataOf(home: string): Promise<void> {
  const root = '/var/lib/vitto';
  for (const name of await readdir(root).catch(() => [])) {
    const owner = await readFile(join(root, name, 'belongs-to.txt'), 'utf8').catch(() => '');
    if (owner.includes(home)) await rm(join(root, name), { recursive: true, force: true });
  }
}

async function createDatabase() {
  const admin = process.env['VITTO_TEST_DATABASE_URL'] ?? '';
  const name = `vitto_web_${randomBytes(6).toString('hex')}`;
  await asAdmin(admin, `create database ${name}`);
  const url = new URL(admin);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => asAdmin(admin, `drop database if exists ${name} with (force)`) };
}

async function asAdmin(connectionString: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

async function call<T>(url: string, token: string, method: string, path: string, body?: unknown) {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: (text === '' ? null : JSON.parse(text)) as T };
}
