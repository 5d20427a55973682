import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { chromium, type Browser, type BrowserContext, type LaunchOptions, type Page } from 'playwright-core';
import { build } from 'vite';
import { FakeVitto } from './fake-vitto.ts';

const APP = join(import.meta.dirname, '..', '..');
/** Beside the app that is served, and one a process: a test must not take the app away from who runs it, or another. */
const BUILDS = join(APP, '.cache');
export const WEB_ROOT = join(BUILDS, `live-tests-${process.pid}`);

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
];

/** Builds the app as it is shipped. */
export async function buildApp(): Promise<void> {
  removeOldBuilds();
  await build({
    configFile: join(APP, 'vite.config.ts'),
    logLevel: 'error',
    build: { outDir: WEB_ROOT, emptyOutDir: true },
  });
}

/** What processes left behind that have ended: they are killed, and clean up nothing. */
function removeOldBuilds(): void {
  if (!existsSync(BUILDS)) return;
  for (const name of readdirSync(BUILDS)) {
    const pid = /^live-tests-(\d+)$/.exec(name)?.[1];
    if (pid !== undefined && !existsSync(`/proc/${pid}`))
      rmSync(join(BUILDS, name), { recursive: true, force: true });
  }
}

export function launchBrowser(options: LaunchOptions = {}): Promise<Browser> {
  return chromium.launch({ executablePath: '/usr/bin/chromium', args: FLAGS, ...options });
}

/** A server and a page of its own, and what the page did that it should not. */
export interface Visit {
  fake: FakeVitto;
  page: Page;
  context: BrowserContext;
  origin: string;
  /** Errors of the page, broken content policies included. */
  errors: string[];
  /** Requests to other origins. */
  strangers: string[];
  end: () => Promise<void>;
}

export async function startVisit(
  browser: Browser,
  options: { width?: number; height?: number; dark?: boolean; locale?: string } = {},
): Promise<Visit> {
  const fake = new FakeVitto(WEB_ROOT);
  const origin = await fake.listen();
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
    // A refused request is logged by the browser itself; tests make some on purpose.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      errors.push(message.text());
  });
  context.on('request', (request) => {
    const { protocol, origin: to } = new URL(request.url());
    if (protocol.startsWith('http') && to !== origin) strangers.push(request.url());
  });
  const end = async () => {
    await context.close();
    await fake.close();
  };
  return { fake, page, context, origin, errors, strangers, end };
}

/** Opens all that is closed in the thread, what appears by that included. */
export async function openEverything(page: Page): Promise<void> {
  const closed = page.locator('section button[data-state=closed]');
  for (let left = 100; left > 0 && (await closed.count()) > 0; left -= 1) await closed.first().click();
}
