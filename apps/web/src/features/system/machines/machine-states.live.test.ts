import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildApp, launchBrowser, startVisit, type Visit } from '../../../testing/browser.ts';
import { checkLooks } from '../../../testing/check-looks.ts';
import { sampleMachines } from '../../../testing/sample-machines.ts';

// The states of hosts, images and machines that a real one is in for a moment only, or when something fails.

let browser: Browser;
beforeAll(async () => {
  await buildApp();
  browser = await launchBrowser();
});
afterAll(() => browser.close());

async function open(
  prepare: (visit: Visit) => void,
  look: { width?: number; height?: number; dark?: boolean } = {},
  language = 'en',
): Promise<Visit> {
  const visit = await startVisit(browser, look);
  prepare(visit);
  await visit.page.addInitScript((to) => localStorage.setItem('vitto.language', to), language);
  await visit.page.goto(`${visit.origin}/operations/system`);
  await visit.page.getByRole('heading', { name: /^Virtual machines$|^Máquinas virtuales$/ }).waitFor();
  return visit;
}

async function check({ page, errors }: Visit, name: string): Promise<void> {
  await checkLooks(page, name);
  expect(errors).toEqual([]);
}

const LOOKS = [
  { name: 'desktop-light', width: 1280, height: 2400, dark: false, language: 'en', building: /42/ },
  { name: 'desktop-dark', width: 1280, height: 2400, dark: true, language: 'es', building: /Construyo.*42/ },
  { name: 'phone-light', width: 390, height: 3600, dark: false, language: 'es', building: /Construyo.*42/ },
  { name: 'phone-dark', width: 390, height: 3600, dark: true, language: 'en', building: /42/ },
];

it.each(LOOKS)('every state is readable on $name', async ({ name, language, building, ...look }) => {
  const visit = await open(({ fake }) => (fake.machines = sampleMachines()), look, language);
  await visit.page.getByText(building).first().waitFor();
  expect(await visit.page.getByRole('article').count()).toBe(5);
  await check(visit, `machine-states-${name}`);
  await visit.end();
});

it('says what a machine is where there is none, and mends what could not be read', async () => {
  const visit = await open(() => {});
  await visit.page.getByText(/^No machines yet/).waitFor();
  await check(visit, 'machine-states-empty');
  const route = 'GET /api/sandbox';
  visit.fake.faults.set(route, { status: 503, body: { code: 'x', title: 'The database is away.' } });
  await visit.page.getByText('The machines are shown as they were').waitFor({ timeout: 30_000 });
  await check(visit, 'machine-states-stale');
  visit.fake.faults.delete(route);
  await visit.page.getByRole('button', { name: 'Try again' }).click();
  await visit.page.getByText('The machines are shown as they were').waitFor({ state: 'detached' });
  await visit.end();
});

it('builds an image that failed, asks before it cuts a command off, and says why an act was refused', async () => {
  const visit = await open(({ fake }) => (fake.machines = sampleMachines()));
  const { page, fake } = visit;
  const card = page.getByRole('article').first();
  await page.getByRole('button', { name: 'Try again: Image minimal' }).click();
  await expect.poll(() => fake.calls.map(({ path }) => path)).toContain('/api/sandbox/images/minimal/build');
  await card.getByRole('button', { name: /^Snapshot and suspend/ }).click();
  await card.getByText(/is told that the command was cut off/).waitFor();
  await page.keyboard.press('Escape');
  const id = sampleMachines().sandboxes[0]?.id ?? '';
  const refusal = { code: 'sandbox.busy', title: 'A snapshot of it is being taken.' };
  fake.faults.set(`POST /api/sandbox/${id}/destroy`, { status: 409, body: refusal });
  await card.getByRole('button', { name: /^End / }).click();
  await card.getByRole('group').getByRole('button', { name: 'End', exact: true }).click();
  await card.getByText(refusal.title).waitFor();
  expect(fake.calls.filter(({ path }) => path.endsWith('/snapshot'))).toEqual([]);
  await check(visit, 'machine-states-refused');
  await visit.end();
});
