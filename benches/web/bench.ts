// What people feel of the pages, in a real Chromium against the real product: first load, scrolling a long
// conversation, opening a long task, a long list, and whether anything moves while an answer streams in.
import { gzipSync } from 'node:zlib';
import { readFile } from 'node:fs/promises';
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
import { watchPage, readWatch } from './watch-page.ts';
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
}

const postgres = await openBenchPostgres();
process.env['VITTO_TEST_DATABASE_URL'] = await postgres.createDatabase();
let vitto: RealVitto | null = null;
let browser: Browser | null = null;
const rows: Row[] = [];
try {
  say('building the web app');
  await buildWebApp();
  vitto = await startRealVitto();
  browser = await launchBrowser();
  say('writing the journal');
  const seeded = await seedPages(vitto.databaseUrl, {
    conversationEvents,
    taskEvents,
    waitingTasks: tasks,
  });
  const { page } = await openPage(browser, vitto);
  const chat = `${vitto.url}/vitto/c/${seeded.conversationId}`;
  await measureFirstLoad(browser, vitto, chat);
  say('scrolling');
  rows.push(await measureScroll(page, chat));
  say('opening a long task and a long list');
  rows.push(await measureOpening(page, vitto, `/vitto/t/${seeded.longTaskId}`, 'task', taskEvents));
  rows.push(await measureOpening(page, vitto, '/operations/agents', 'list', tasks));
  say('streaming');
  rows.push(...(await measureStreaming(page, vitto)));
} finally {
  await browser?.close();
  await vitto?.end();
  await postgres.close();
}
print();

/** A browser that has never been here, signed in by its cookie alone. */
async function measureFirstLoad(from: Browser, on: RealVitto, chat: string): Promise<void> {
  const scripts: number[] = [];
  const painted: number[] = [];
  const ready: number[] = [];
  for (let run = 0; run < runs; run += 1) {
    const { context } = await openPage(from, on);
    const cookies = await context.cookies();
    await context.close();
    const fresh = await from.newContext();
    await fresh.addCookies(cookies);
    const visit = await fresh.newPage();
    await visit.goto(chat);
    await visit.getByRole('textbox', { name: 'Message to Vitto' }).waitFor();
    const seen = await visit.evaluate(() => ({
      ready: performance.now(),
      painted: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Number.NaN,
      scripts: performance
        .getEntriesByType('resource')
        .map((entry) => new URL(entry.name).pathname)
        .filter((path) => path.endsWith('.js')),
    }));
    ready.push(seen.ready);
    painted.push(seen.painted);
    scripts.push(await gzippedKb(seen.scripts));
    await fresh.close();
  }
  rows.push(
    { what: 'chat route, JavaScript gzipped', unit: 'KB', values: scripts, aim: 300 },
    { what: 'chat route, first paint with content', unit: 'ms', values: painted, aim: Number.NaN },
    { what: 'chat route, ready to type', unit: 'ms', values: ready, aim: Number.NaN },
  );
}

async function gzippedKb(paths: string[]): Promise<number> {
  const sizes = await Promise.all(
    paths.map(async (path) => gzipSync(await readFile(join(DIST, path)), { level: 9 }).length),
  );
  return sizes.reduce((sum, size) => sum + size, 0) / 1000;
}

/** From the end of the conversation to its beginning, as a person turns the wheel. */
async function measureScroll(page: Page, chat: string): Promise<Row> {
  const longest: number[] = [];
  for (let run = 0; run < runs; run += 1) {
    await page.goto(chat);
    await page.getByText('All tests pass.').last().waitFor();
    await watchPage(page);
    await page.mouse.move(800, 400);
    for (let turn = 0; turn < 150; turn += 1) {
      await page.mouse.wheel(0, -900);
      await page.evaluate(() => new Promise((next) => requestAnimationFrame(() => next(null))));
    }
    longest.push((await readWatch(page)).longestTaskMs);
  }
  return {
    what: `${conversationEvents.toLocaleString('en')} events, longest task while scrolling`,
    unit: 'ms',
    values: longest,
    aim: 100,
  };
}

/** From the click of a link inside of the app to what was asked for on the screen. */
async function measureOpening(
  page: Page,
  on: RealVitto,
  path: string,
  what: 'task' | 'list',
  size: number,
): Promise<Row> {
  const selector = what === 'task' ? '[data-steps] [data-index]' : '[data-row]';
  const values: number[] = [];
  for (let run = 0; run < runs; run += 1) {
    await page.goto(`${on.url}/vitto/inbox`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await warm(page, path);
    values.push(await clickThrough(page, path, selector));
  }
  const name =
    what === 'task'
      ? `task of ${size.toLocaleString('en')} events opens`
      : `${size.toLocaleString('en')} tasks list`;
  return { what: name, unit: 'ms', values, aim: what === 'task' ? 1_000 : 100 };
}

/** The page's code is there before the clock starts: it is fetched when a link is pointed at. */
async function warm(page: Page, path: string): Promise<void> {
  await page.evaluate(async (to) => {
    history.pushState({}, '', to);
    dispatchEvent(new PopStateEvent('popstate'));
    await new Promise((next) => setTimeout(next, 1_500));
    history.back();
    await new Promise((next) => setTimeout(next, 500));
  }, path);
}

function clickThrough(page: Page, path: string, selector: string): Promise<number> {
  return page.evaluate(
    ([to, wanted]) =>
      new Promise<number>((resolve) => {
        const began = performance.now();
        const look = () => {
          if (document.querySelector(wanted) === null) return void requestAnimationFrame(look);
          resolve(performance.now() - began);
        };
        history.pushState({}, '', to);
        dispatchEvent(new PopStateEvent('popstate'));
        requestAnimationFrame(look);
      }),
    [path, selector] as const,
  );
}

/** An answer of 200 tokens a second (of about four letters each). */
async function measureStreaming(page: Page, on: RealVitto): Promise<Row[]> {
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
  await watchPage(page);
  await page.getByText('Done', { exact: true }).waitFor({ timeout: 120_000 });
  const { layoutShift, longestTaskMs } = await readWatch(page);
  return [
    { what: 'streaming 200 tokens/s, layout shift (CLS)', unit: '', values: [layoutShift], aim: 0.001 },
    { what: 'streaming 200 tokens/s, longest task', unit: 'ms', values: [longestTaskMs], aim: Number.NaN },
  ];
}

function print(): void {
  const results = rows.map(({ what, unit, values, aim }) => ({
    what,
    unit,
    median: median(values),
    max: Math.max(...values),
    aim,
    isHeld: Number.isNaN(aim) ? null : median(values) < aim,
  }));
  if (options.isJson) {
    process.stdout.write(`${JSON.stringify({ bench: 'web', ...options, machine, results }, null, 2)}\n`);
    return;
  }
  const cells = results.map(({ what, unit, median: middle, max, aim, isHeld }) => [
    what,
    `${figure(middle)} ${unit}`.trim(),
    figure(max),
    Number.isNaN(aim) ? '–' : `< ${aim}`,
    isHeld === null ? '' : isHeld ? 'held' : 'NOT HELD',
  ]);
  process.stdout.write(
    `${toTable(['what', 'median', 'max', 'aim', ''], cells)}\n${machineLine(machine)}; ${postgres.description}\n`,
  );
}
