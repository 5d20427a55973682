import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { buildApp, launchBrowser, startVisit, type Visit } from './testing/browser.ts';
import { idOf } from './testing/event-maker.ts';
import { CONVERSATION } from './testing/fake-vitto.ts';

const TASK = idOf(1);
const START = 'POST /api/demo';

let browser: Browser;
let visit: Visit;
beforeAll(async () => {
  await buildApp();
  browser = await launchBrowser();
});
afterAll(() => browser.close());
beforeEach(async () => {
  visit = await startVisit(browser);
  visit.fake.models = [];
});
afterEach(async () => {
  const { errors, strangers } = visit;
  await visit.end();
  expect(errors).toEqual([]);
  expect(strangers).toEqual([]);
});

const starts = () => visit.fake.calls.filter((call) => call.path === '/api/demo');
const watch = () => visit.page.getByRole('button', { name: 'Watch the demo' });

/** The fake server answers once this has been called. */
function holdDemo(): () => void {
  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  visit.fake.onDemo = () => held;
  return release;
}

function playDemo(): void {
  const { fake } = visit;
  fake.conversationCount = 1;
  fake.emit(
    fake.make.created(TASK),
    fake.make.said(TASK, 'Some tests fail.'),
    fake.make.started(TASK),
    fake.make.turn(TASK, 1, 'First I look.', { model: 'script:demo.yaml', costUsd: null }),
  );
}

it('starts once, says that it prepares, and goes to its conversation, which is labelled and live', async () => {
  const { fake, page, origin } = visit;
  const release = holdDemo();
  await page.goto(`${origin}/vitto`);
  await page.getByText('The words are written beforehand, every command is real.').waitFor();
  await watch().dblclick();
  await page.getByText('Preparing the demo…').waitFor();
  await page.getByRole('timer', { name: 'preparing for' }).waitFor();
  playDemo();
  release();
  await page.waitForURL(`**/vitto/c/${CONVERSATION}`);
  expect(starts().map((call) => call.body)).toEqual([{}]);
  await page.locator('header').getByText('Scripted', { exact: true }).waitFor();
  await page.locator('[data-connection=live]').waitFor({ state: 'attached' });
  fake.emit(fake.make.text(TASK, 2, 'And on it goes.'));
  await page.getByText('And on it goes.').waitFor();
});

it('says why it did not start, what to do, and can be tried again', async () => {
  const { fake, page, origin } = visit;
  const body = {
    code: 'demo.no-sandbox',
    title: 'The demo needs the sandbox: bubblewrap is missing.',
    hint: 'Install it.',
  };
  fake.faults.set(START, { status: 503, body });
  await page.goto(`${origin}/vitto`);
  await watch().click();
  await page.getByText('The demo needs the sandbox').waitFor();
  await page.getByText('Install it.').waitFor();
  fake.faults.delete(START);
  playDemo();
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.waitForURL(`**/vitto/c/${CONVERSATION}`);
});

it('does not begin a second time when only the answer was lost', async () => {
  const { fake, page, origin } = visit;
  fake.faults.set(START, 'drop');
  await page.goto(`${origin}/vitto`);
  await watch().click();
  await page.getByText('The demo did not start.').waitFor();
  fake.faults.delete(START);
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.waitForURL(`**/vitto/c/${CONVERSATION}`);
  expect(new Set(starts().map((call) => call.headers['idempotency-key'])).size).toBe(1);
});

it('leaves who has gone elsewhere meanwhile where they are, with the demo in the list', async () => {
  const { fake, page, origin } = visit;
  fake.conversationCount = 2;
  const release = holdDemo();
  await page.goto(`${origin}/vitto`);
  await watch().click();
  await page.getByRole('navigation').getByRole('link', { name: 'Older conversation 1' }).click();
  await page.waitForURL(`**/vitto/c/${idOf(1001)}`);
  fake.title = 'Demo: mend a library';
  release();
  await page.getByRole('navigation').getByRole('link', { name: 'Demo: mend a library' }).waitFor();
  expect(page.url()).toContain(idOf(1001));
});

it('is not offered where a model answers', async () => {
  const { fake, page, origin } = visit;
  fake.models = ['anthropic/claude'];
  await page.goto(`${origin}/vitto`);
  await page.getByText('What can I do for you?').waitFor();
  expect(await watch().count()).toBe(0);
});
