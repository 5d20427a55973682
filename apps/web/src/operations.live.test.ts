import { AxeBuilder } from '@axe-core/playwright';
import pg from 'pg';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { launchBrowser } from './testing/browser.ts';
import { buildWebApp, openPage, startRealVitto, type RealVitto } from './testing/real-vitto.ts';

// Costs, audit trail and system health with the real product: its process, its database, its pages.

/** A folder for pictures of each page, to look at while working. */
const SHOTS = process.env['VITTO_SHOTS'];

let browser: Browser;
let vitto: RealVitto;
beforeAll(async () => {
  await buildWebApp();
  browser = await launchBrowser();
  vitto = await startRealVitto({ VITTO_DAILY_COST_USD: '2' });
  await seed();
});
afterAll(async () => {
  await browser?.close();
  await vitto?.end();
});

async function seed(): Promise<void> {
  const turns = (name: string, price: string) =>
    vitto.writeScript(
      name,
      `${price}turns: [{ text: Done., usage: { input: 12000, cachedInput: 4000, output: 900 } }]\n`,
    );
  const dear = await turns('dear', 'prices: { input: 20, cachedInput: 2, cacheWrite: 20, output: 80 }\n');
  const cheap = await turns('cheap', 'prices: { input: 1, cachedInput: 0.1, cacheWrite: 1, output: 4 }\n');
  const prompts = [
    'Summarise the 212 open tickets',
    'Rename the branch',
    'Résumé <b>de</b> la réunion שלום 🦊',
  ];
  for (const [index, prompt] of prompts.entries()) {
    await runTask(prompt, index === 1 ? cheap : dear);
  }
  await vitto.call('PATCH', '/api/settings', { timeZone: 'Europe/Madrid' });
  // A month in which the same models were used before: as if it had been journaled then.
  await sql(
    `insert into vitto_daily_usage (user_id, day, model, turns, input_tokens, cached_input_tokens, output_tokens, cost_nano)
     select user_id, to_char(now() - make_interval(days => back), 'YYYY-MM-DD'), model, 3 + back % 5, 40000 * (1 + back % 7),
       9000, 3000, (cost_nano * (0.4 + (back * 7 % 11) / 8.0))::bigint
     from vitto_daily_usage, generate_series(1, 40) back where back % 6 <> 0 on conflict do nothing`,
  );
}

async function runTask(prompt: string, model: string): Promise<void> {
  const { body } = await vitto.call<{ id: string }>('POST', '/api/tasks', { prompt, model });
  const isDone = async () => {
    const task = await vitto.call<{ state: string }>('GET', `/api/tasks/${body.id}`);
    expect(task.body.state).toBe('completed');
  };
  await vi.waitFor(isDone, { timeout: 20_000, interval: 100 });
}

async function sql(...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: vitto.databaseUrl });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

const PAGES = [
  { path: '/command/costs', shows: 'Summarise the 212 open tickets', es: 'Tareas más caras' },
  { path: '/command/audit', shows: 'Started a task', es: 'Empezó una tarea' },
  { path: '/operations/system', shows: 'Round trip', es: 'Ida y vuelta' },
];
const LOOKS = [
  { name: 'desktop-light', width: 1280, height: 900, dark: false, locale: 'en-GB' },
  { name: 'desktop-dark', width: 1280, height: 900, dark: true, locale: 'en-GB' },
  { name: 'phone-light', width: 390, height: 844, dark: false, locale: 'en-GB' },
  { name: 'phone-dark-es', width: 390, height: 844, dark: true, locale: 'es-ES' },
];

async function shoot(page: Page, name: string): Promise<void> {
  if (SHOTS !== undefined) await page.screenshot({ path: `${SHOTS}/${name}.png` });
}

describe.each(LOOKS)('on $name', (look) => {
  it('the pages are readable, fit, and break no rule of the page or of accessibility', async () => {
    const { page, context, errors, strangers } = await openPage(browser, vitto, look);
    await page.addInitScript(
      (language) => localStorage.setItem('vitto.language', language),
      look.locale.slice(0, 2),
    );
    for (const { path, shows, es } of PAGES) {
      await page.goto(`${vitto.url}${path}`);
      const words = look.locale === 'es-ES' ? es : shows;
      await page.locator('#content :is(li, dt, h2, th)').getByText(words).first().waitFor();
      const name = `${path.split('/').at(-1)}-${look.name}`;
      await shoot(page, name);
      const scrolls = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
      expect(scrolls, `${path} scrolls sideways`).toBe(false);
      const found = await new AxeBuilder({ page }).include('#content').analyze();
      expect(
        found.violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.html).join(' ')}`),
        path,
      ).toEqual([]);
      await page.evaluate(() => document.querySelector('#content > div')?.scrollTo(0, 100_000));
      await shoot(page, `${name}-end`);
    }
    expect(errors).toEqual([]);
    expect(strangers).toEqual([]);
    await context.close();
  });
});

describe('costs', () => {
  it('are drawn, read as a table by keyboard, and keep their range in the address', async () => {
    const { page, context, errors } = await openPage(browser, vitto);
    await page.goto(`${vitto.url}/command/costs`);
    await page.getByRole('img', { name: /^Stacked bars: Cost/ }).waitFor();
    expect(await countInk(page)).toBeGreaterThan(2);
    await page.getByRole('button', { name: '90 days' }).click();
    await page.waitForURL(/days=90/);
    await page.reload();
    await page.getByRole('button', { name: '90 days', pressed: true }).waitFor();
    await page.getByRole('button', { name: 'As a table' }).focus();
    await page.keyboard.press('Enter');
    const table = page.getByRole('region', { name: 'By day and model' });
    // Three tasks today on two models, and their month before.
    expect(await table.getByRole('row').count()).toBeGreaterThan(50);
    await page.getByText(/^About \$/).waitFor();
    await page.getByRole('meter', { name: 'Today' }).waitFor();
    const dearest = page.getByRole('link', { name: 'Rename the branch' });
    expect(await dearest.getAttribute('href')).toMatch(/^\/vitto\/t\/[0-9a-f-]{36}$/);
    expect(errors).toEqual([]);
    await context.close();
  });

  it('says what went wrong and tries again', async () => {
    const { page, context } = await openPage(browser, vitto);
    let isBroken = true;
    await page.route('**/api/costs?*', (route) =>
      isBroken
        ? route.fulfill({ status: 422, contentType: 'application/json', body: '{}' })
        : route.continue(),
    );
    await page.goto(`${vitto.url}/command/costs`);
    await page.getByRole('alert').getByText('I cannot read the costs.').waitFor();
    isBroken = false;
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('img', { name: /^Stacked bars/ }).waitFor();
    await context.close();
  });
});

/** How many different colours the chart has: more than two when there are bars. */
function countInk(page: Page): Promise<number> {
  return page.evaluate(() => {
    const canvas = document.querySelector('canvas');
    const pixels = canvas?.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height).data ?? [];
    const colors = new Set<string>();
    for (let at = 0; at < pixels.length; at += 4) {
      if (pixels[at + 3] === 255) colors.add(`${pixels[at]},${pixels[at + 1]},${pixels[at + 2]}`);
    }
    return colors.size;
  });
}

describe('the audit trail', () => {
  it('is searched, filtered and paged', async () => {
    for (let i = 0; i < 60; i += 1) await vitto.call('POST', '/api/conversations', {});
    const { page, context, errors } = await openPage(browser, vitto);
    await page.goto(`${vitto.url}/command/audit`);
    await page.getByText('The newest 50 entries').waitFor();
    await page.getByRole('button', { name: 'Show older ones' }).scrollIntoViewIfNeeded();
    await page.getByText(/^\d+ entries$/).waitFor();
    await page.getByLabel('Search').fill('settings.ch');
    await page.waitForURL(/q=settings\.ch/);
    await page.getByText('1 entries').or(page.getByText('1 entry')).waitFor();
    await page.getByRole('button', { name: /^Facts/ }).click();
    await page.getByText('["timeZone"]').waitFor();
    await page.getByLabel('Search').fill('no such thing');
    await page.getByText('No entry fits.').waitFor();
    await page.getByRole('link', { name: 'Show all' }).click();
    await page.getByLabel('Action').selectOption('sign-in.done');
    await page.waitForURL(/action=sign-in\.done/);
    await page.getByText('Signed in').nth(1).waitFor();
    expect(await page.getByRole('listitem').getByText('Began a conversation').count()).toBe(0);
    await page.getByLabel('Until').fill('2001-01-01');
    await page.waitForURL(/to=2001-01-01/);
    await page.getByText('No entry fits.').waitFor();
    await page.getByLabel('Until').fill('');
    await page.getByLabel('From').fill('2001-01-01');
    await page.waitForURL((url) => url.search.includes('from=2001-01-01') && !url.search.includes('to='));
    await page.getByText('Signed in').nth(1).waitFor();
    expect(errors).toEqual([]);
    await context.close();
  });

  it('is verified, and a change by somebody with the database is found', async () => {
    const { page, context } = await openPage(browser, vitto);
    await page.goto(`${vitto.url}/command/audit`);
    await page.getByRole('button', { name: 'Verify' }).click();
    await page.getByText(/^Intact: all \d+ entries fit/).waitFor();
    await shoot(page, 'audit-intact');
    await sql(
      'alter table vitto_audit_events disable trigger user',
      `update vitto_audit_events set address = '10.0.0.1' where seq = 3`,
      'alter table vitto_audit_events enable trigger user',
    );
    await page.getByRole('button', { name: 'Verify' }).click();
    await page.getByText('Broken at entry 3').waitFor();
    await shoot(page, 'audit-broken');
    await sql(
      'alter table vitto_audit_events disable trigger user',
      `update vitto_audit_events set address = '127.0.0.1' where seq = 3`,
      'alter table vitto_audit_events enable trigger user',
    );
    await context.close();
  });
});

describe('the system page', () => {
  it('keeps its figures true while somebody looks, without moving', async () => {
    const { page, context, errors } = await openPage(browser, vitto);
    await page.addInitScript(() => {
      const seen = { shift: 0 };
      Object.assign(window, { seen });
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) seen.shift += (entry as unknown as { value: number }).value;
      }).observe({ type: 'layout-shift', buffered: true });
    });
    await page.goto(`${vitto.url}/operations/system`);
    await page.getByText('Round trip').waitFor();
    await page.evaluate(() => Object.assign((window as never as { seen: object }).seen, { shift: 0 }));
    const beat = page.getByRole('region', { name: 'Processes' }).getByText(/ago$/);
    const before = await beat.textContent();
    await expect.poll(() => beat.textContent(), { timeout: 10_000 }).not.toBe(before);
    await page.waitForResponse((response) => response.url().endsWith('/api/system'));
    await page.waitForResponse((response) => response.url().endsWith('/api/system'));
    expect(
      await page.evaluate(() => (window as never as { seen: { shift: number } }).seen.shift),
    ).toBeLessThan(0.001);
    await vitto.kill();
    await page.getByText('These figures are old').waitFor({ timeout: 30_000 });
    await shoot(page, 'system-stale');
    await vitto.start();
    await page.getByText('These figures are old').waitFor({ state: 'detached', timeout: 30_000 });
    expect(errors).toEqual([]);
    await context.close();
  });
});
