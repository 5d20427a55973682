// What people feel of the pages, in a real Chromium against the real product: first load, scrolling a long
// conversation, opening a long task, a long list, and whether anything moves while an answer streams in.
import { gzipSync } from 'node:zlib';
import { readFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser } from '../../apps/web/src/testing/browser.ts';
import {
  buildWebApp,
  openPage,
  startRealVitto,
  type RealVitto,
} from '../../apps/web/src/testing/real-vitto.ts';
import { openBenchPostgres } from '../bench-postgres.ts';
import { readBenchOptions } from '../bench-options.ts';
import { describeMachine, figure, machineLine, say, toTable } from '../report.ts';
import { median } from '../statistics.ts';
import { longestProcessorMs, readWatch, TRACE_CATEGORIES, watchPage } from './watch-page.ts';
import { seedPages } from './seed-pages.ts';

const DIST = join(import.meta.dirname, '../../apps/web/dist');
const options = readBenchOptions('bench:web', {
  runs: { full: 5, quick: 1 },
  conversationEvents: { full: 10_000, quick: 1_000 },
  taskEvents: { full: 100_000, quick: 2_000 },
  tasks: { full: 1_000, quick: 100 },
  seconds: { full: 15, quick: 3 },
});
const { runs, conversationEvents, taskEvents, tasks, seconds } = options.numbers;
const machine = describeMachine();

interface Row {
  what: string;
  unit: string;
  values: number[];
  aim: number;
  /** Average number of running processes over the last minute, when it had been measured. */
  load: number;
}

const NO_AIM = Number.NaN;
let vitto: RealVitto | null = null;
let browser: Browser | null = null;
const postgres = await openBenchPostgres(async () => {
  await browser?.close();
  await vitto?.end();
});
process.env['VITTO_TEST_DATABASE_URL'] = await postgres.createDatabase();
const rows: Row[] = [];
try {
  say('building the web app');
  await buildWebApp();
  vitto = await startRealVitto();
  // The browser would end the whole process when it is interrupted, before anything else is cleaned up.
  browser = await launchBrowser({ handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false });
  say('writing the journal');
  const seeded = await seedPages(vitto.databaseUrl, {
    conversationEvents,
    taskEvents,
    waitingTasks: tasks,
  });
  const { page } = await openPage(browser, vitto);
  const chat = `${vitto.url}/vitto/c/${seeded.conversationId}`;
  say('loading for the first time');
  await measureFirstLoad(browser, vitto, chat);
  say('scrolling');
  await measureScroll(browser, page, chat);
  say('opening a long list and a long task');
  await measureList(page, vitto);
  await measureTask(page, vitto, seeded.longTaskId);
  say('streaming');
  await measureStreaming(browser, page, vitto);
} finally {
  await postgres.close();
}
print();

function report(what: string, unit: string, values: number[], aim: number): void {
  rows.push({ what, unit, values, aim, load: loadavg()[0] ?? 0 });
}

/** Runs it once more than asked for; the first time everything is cold, and does not count. */
async function repeat<T>(run: () => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  for (let round = 0; round <= runs; round += 1) results.push(await run());
  return results.slice(1);
}

/** A browser that has never been here, signed in by its cookie alone; until nothing more is loaded. */
async function measureFirstLoad(from: Browser, on: RealVitto, chat: string): Promise<void> {
  const { context } = await openPage(from, on);
  const cookies = await context.cookies();
  await context.close();
  const loads = await repeat(async () => {
    const fresh = await from.newContext();
    await fresh.addCookies(cookies);
    await fresh.addInitScript(markWhenReady);
    const visit = await fresh.newPage();
    await visit.goto(chat);
    await visit.getByText('All tests pass.').last().waitFor();
    await visit.waitForTimeout(1_500);
    const seen = await visit.evaluate(() => ({
      ready: performance.getEntriesByName('ready')[0]?.startTime ?? Number.NaN,
      painted: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Number.NaN,
      scripts: performance
        .getEntriesByType('resource')
        .map((entry) => new URL(entry.name).pathname)
        .filter((path) => path.endsWith('.js')),
    }));
    await fresh.close();
    return { ...seen, kb: await gzippedKb([...new Set(seen.scripts)]) };
  });
  const each = (name: 'kb' | 'painted' | 'ready') => loads.map((load) => load[name]);
  report('chat route, JavaScript gzipped', 'KB', each('kb'), 300);
  report('chat route, first paint with content', 'ms', each('painted'), NO_AIM);
  report('chat route, ready to type', 'ms', each('ready'), NO_AIM);
}

/** In the page itself: how long this program takes to look is no part of it. */
function markWhenReady(): void {
  const observer = new MutationObserver(() => {
    if (document.querySelector('textarea') === null) return;
    performance.mark('ready');
    observer.disconnect();
  });
  observer.observe(document, { childList: true, subtree: true });
}

async function gzippedKb(paths: string[]): Promise<number> {
  const sizes = await Promise.all(
    paths.map(async (path) => gzipSync(await readFile(join(DIST, path)), { level: 9 }).length),
  );
  return sizes.reduce((sum, size) => sum + size, 0) / 1000;
}

/** From the end of the conversation towards its beginning, as a person turns the wheel. */
async function measureScroll(by: Browser, page: Page, chat: string): Promise<void> {
  const scrolls = await repeat(async () => {
    await page.goto(chat);
    await page.getByText('All tests pass.').last().waitFor();
    await by.startTracing(page, { categories: TRACE_CATEGORIES });
    await watchPage(page);
    await page.mouse.move(800, 400);
    for (let turn = 0; turn < 150; turn += 1) {
      await page.mouse.wheel(0, -900);
      await page.evaluate(() => new Promise((next) => requestAnimationFrame(() => next(null))));
    }
    return { ...(await readWatch(page)), processorMs: longestProcessorMs(await by.stopTracing()) };
  });
  const name = `${conversationEvents.toLocaleString('en')} events scrolled`;
  const each = (of: 'longestTaskMs' | 'processorMs') => scrolls.map((seen) => seen[of]);
  report(`${name}, longest task`, 'ms', each('longestTaskMs'), 100);
  report(`${name}, longest by processor time`, 'ms', each('processorMs'), 100);
}

async function measureList(page: Page, on: RealVitto): Promise<void> {
  const seen = await repeat(async () => {
    await page.goto(`${on.url}/vitto`);
    await page.getByRole('textbox', { name: 'Message to Vitto' }).waitFor();
    return clickThrough(page, 'a[href="/operations/agents"]', '[data-row]');
  });
  report(`${tasks.toLocaleString('en')} tasks list`, 'ms', seen, 100);
}

async function measureTask(page: Page, on: RealVitto, taskId: string): Promise<void> {
  const seen = await repeat(async () => {
    await page.goto(`${on.url}/operations/agents`);
    await page.getByRole('button', { name: /^Finished/ }).click();
    return clickThrough(page, `[data-row="${taskId}"]`, '[data-steps] [data-index]');
  });
  report(`task of ${taskEvents.toLocaleString('en')} events opens`, 'ms', seen, 1_000);
}

/** From the click on a link that was pointed at, so that its code is here, until what was asked for is painted. */
async function clickThrough(page: Page, link: string, wanted: string): Promise<number> {
  await page.locator(link).first().hover();
  await page.waitForTimeout(1_000);
  return page
    .locator(link)
    .first()
    .evaluate(
      (element: HTMLElement, selector) =>
        new Promise<number>((resolve) => {
          const began = performance.now();
          const look = () => {
            if (document.querySelector(selector) === null) return void requestAnimationFrame(look);
            setTimeout(() => resolve(performance.now() - began));
          };
          element.click();
          requestAnimationFrame(look);
        }),
      wanted,
    );
}

/** An answer of 200 tokens a second (of about four letters each). */
async function measureStreaming(by: Browser, page: Page, on: RealVitto): Promise<void> {
  const words = Array.from({ length: seconds * 200 }, (_, n) =>
    n % 40 === 39 ? 'end.\\n\\n' : 'word ',
  ).join('');
  const model = await on.writeScript(
    'stream',
    `turns:\n  - { text: "${words}", stream: { size: 20, everyMs: 20 } }\n`,
  );
  const { body } = await on.call<{ id: string; conversationId: string }>('POST', '/api/tasks', {
    prompt: 'stream',
    model,
  });
  await page.goto(`${on.url}/vitto/c/${body.conversationId}`);
  await page.getByText('word').first().waitFor();
  await by.startTracing(page, { categories: TRACE_CATEGORIES });
  await watchPage(page);
  await page.getByText('Done', { exact: true }).waitFor({ timeout: 120_000 });
  // What moves in the last frames is told after them.
  await page.waitForTimeout(500);
  const { layoutShift, longestTaskMs } = await readWatch(page);
  report('streaming 200 tokens/s, layout shift (CLS)', '', [layoutShift], 0.001);
  const processorMs = longestProcessorMs(await by.stopTracing());
  report('streaming 200 tokens/s, longest task', 'ms', [longestTaskMs], NO_AIM);
  report('streaming 200 tokens/s, longest by processor time', 'ms', [processorMs], NO_AIM);
}

function print(): void {
  const results = rows.map(({ what, unit, values, aim, load }) => ({
    what,
    unit,
    load,
    min: Math.min(...values),
    median: median(values),
    max: Math.max(...values),
    aim,
    isHeld: Number.isNaN(aim) ? null : median(values) < aim,
  }));
  if (options.isJson) {
    process.stdout.write(`${JSON.stringify({ bench: 'web', ...options, machine, results }, null, 2)}\n`);
    return;
  }
  const cells = results.map(({ what, unit, min, median: middle, max, aim, load, isHeld }) => [
    what,
    `${figure(middle)} ${unit}`.trim(),
    figure(min),
    figure(max),
    figure(load),
    Number.isNaN(aim) ? '–' : `< ${aim}`,
    isHeld === null ? '' : isHeld ? 'held' : 'NOT HELD',
  ]);
  process.stdout.write(
    `${toTable(['what', 'median', 'min', 'max', 'load', 'aim', ''], cells)}\n${machineLine(machine)}; ${postgres.description}\n`,
  );
}
