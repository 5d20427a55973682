import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildApp, launchBrowser, startVisit, type Visit } from './testing/browser.ts';
import { CONVERSATION } from './testing/fake-vitto.ts';
import { tellRunningTask } from './testing/sample-thread.ts';

const CHAT = `/vitto/c/${CONVERSATION}`;
const CREATE = 'POST /api/conversations';
const CHANGE = `PATCH /api/conversations/${CONVERSATION}`;

let browser: Browser;
let visit: Visit;
beforeAll(async () => {
  await buildApp();
  browser = await launchBrowser();
});
afterAll(() => browser.close());
beforeEach(async () => {
  visit = await startVisit(browser);
});
afterEach(async () => {
  const { errors, strangers } = visit;
  await visit.end();
  expect(errors).toEqual([]);
  expect(strangers).toEqual([]);
});

const composer = () => visit.page.getByRole('textbox', { name: 'Message to Vitto' });
const button = () => visit.page.getByRole('button', { name: /^Folders that I may read/ });
const panel = () => visit.page.getByRole('region', { name: 'Folders that I may read' });
const field = () => panel().getByLabel('A folder on the machine where Vitto runs');
const chip = (path: string) => visit.page.locator(`span[title="${path}"]`);
const hasFocus = (locator: ReturnType<typeof button>) =>
  locator.evaluate((element) => element === document.activeElement);
const calls = (route: string) => visit.fake.calls.filter((call) => `${call.method} ${call.path}` === route);
const bodies = (route: string) => calls(route).map((call) => call.body);

async function open(path: string): Promise<void> {
  await visit.page.goto(visit.origin + path);
  await button().waitFor();
}

/** By keyboard alone, from wherever the focus is. */
async function addByKeyboard(path: string): Promise<void> {
  await button().focus();
  if ((await button().getAttribute('aria-expanded')) === 'false') await visit.page.keyboard.press('Enter');
  await field().focus();
  await visit.page.keyboard.type(path);
  await visit.page.keyboard.press('Enter');
}

describe('the folders of a new conversation', () => {
  it('are chosen by keyboard, kept over a reload, and go with the first message', async () => {
    const { fake, page } = visit;
    await open('/vitto');
    await button().focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => hasFocus(field())).toBe(true);
    await page.keyboard.type('/home/ana/shop/');
    await page.keyboard.press('Enter');
    await chip('/home/ana/shop').waitFor();
    expect(await field().inputValue()).toBe('');
    await page.keyboard.type('/srv/data');
    await page.keyboard.press('Enter');
    await expect.poll(() => button().getAttribute('aria-label')).toBe('Folders that I may read: 2');
    await page.keyboard.press('Escape');
    await panel().waitFor({ state: 'detached' });
    expect(await hasFocus(button())).toBe(true);
    expect(fake.calls).toEqual([]);

    await composer().fill('mend it');
    await page.reload();
    await chip('/srv/data').waitFor();
    await composer().press('Enter');
    await page.waitForURL(`**${CHAT}`);
    expect(bodies(CREATE)).toEqual([{ allowedPaths: ['/home/ana/shop', '/srv/data'] }]);
    await chip('/home/ana/shop').waitFor();

    await page.goto(`${visit.origin}/vitto`);
    await button().waitFor();
    expect(await button().getAttribute('aria-label')).toBe('Folders that I may read: none');
  });

  it('that the server refuses are shown at the field; text and folders stay and can be mended', async () => {
    const { fake, page } = visit;
    fake.missingFolders.add('/srv/dat');
    await open('/vitto');
    await addByKeyboard('/home/ana/shop');
    await addByKeyboard('/srv/dat');
    await page.keyboard.press('Escape');
    await composer().fill('mend it');
    await composer().press('Enter');
    await panel().getByText('"/srv/dat" cannot be allowed').waitFor();
    await panel().getByText('Name the folder of a project').waitFor();
    await expect.poll(() => hasFocus(field())).toBe(true);
    expect(await composer().inputValue()).toBe('mend it');

    await panel().getByRole('button', { name: 'Remove /srv/dat' }).click();
    await panel().getByText('cannot be allowed').waitFor({ state: 'detached' });
    await addByKeyboard('/srv/data');
    await composer().press('Enter');
    await page.waitForURL(`**${CHAT}`);
    expect(bodies(CREATE).at(-1)).toEqual({ allowedPaths: ['/home/ana/shop', '/srv/data'] });
    const keys = calls(CREATE).map((call) => call.headers['idempotency-key']);
    expect(new Set(keys).size).toBe(2);
  });

  it('are changed in a conversation that was made already, when its first message was not taken', async () => {
    const { fake, page } = visit;
    const route = `POST /api/conversations/${CONVERSATION}/messages`;
    fake.faults.set(route, { status: 422, body: { code: 'budget.no-price', title: 'There is no price.' } });
    await open('/vitto');
    await addByKeyboard('/srv/a');
    await composer().fill('mend it');
    await composer().press('Enter');
    await page.getByText('There is no price.').waitFor();
    fake.faults.delete(route);
    await addByKeyboard('/srv/b');
    await composer().press('Enter');
    await page.waitForURL(`**${CHAT}`);
    expect(bodies(CREATE)).toEqual([{ allowedPaths: ['/srv/a'] }]);
    expect(bodies(CHANGE)).toEqual([{ allowedPaths: ['/srv/a', '/srv/b'] }]);
  });

  it('must be whole paths, and one that was typed but not added is said to be missing', async () => {
    await open('/vitto');
    await addByKeyboard('~/shop');
    await panel().getByText('Write the whole path').waitFor();
    expect(await field().inputValue()).toBe('~/shop');
    expect(await field().getAttribute('aria-invalid')).toBe('true');
    await field().fill('/home/ana/shop');
    await composer().focus();
    await panel().getByText('This folder has not been added yet.').waitFor();
    await panel().getByRole('button', { name: 'Add', exact: true }).click();
    await chip('/home/ana/shop').waitFor();
    await addByKeyboard('/home/ana/shop/');
    await panel().getByText('This folder is in the list already.').waitFor();
  });
});

describe('the folders of a conversation', () => {
  it('change at once, say from when on they count while a task runs, and keep what was changed elsewhere', async () => {
    const { fake } = visit;
    fake.allowedPaths = ['/srv/a'];
    tellRunningTask(fake);
    await open(CHAT);
    await chip('/srv/a').waitFor();
    fake.allowedPaths.push('/srv/from-the-command-line');
    await addByKeyboard('/srv/b');
    await chip('/srv/from-the-command-line').waitFor();
    await panel().getByText('A change counts from the next task on.').waitFor();
    expect(fake.allowedPaths).toEqual(['/srv/a', '/srv/from-the-command-line', '/srv/b']);
    expect(calls(CHANGE)[0]?.headers['x-csrf-token']).toBe('csrf-1');

    await chip('/srv/a').getByRole('button', { name: 'Remove /srv/a' }).click();
    await chip('/srv/a').waitFor({ state: 'detached' });
    expect(fake.allowedPaths).toEqual(['/srv/from-the-command-line', '/srv/b']);
    await expect.poll(() => hasFocus(button())).toBe(true);
    await panel().getByRole('button', { name: 'Remove all' }).click();
    await expect.poll(() => button().getAttribute('aria-label')).toBe('Folders that I may read: none');
    await expect.poll(() => hasFocus(field())).toBe(true);
  });

  it('stay as they are when the server refuses or is not reached, and what was typed stays too', async () => {
    const { fake } = visit;
    fake.allowedPaths = ['/srv/a'];
    fake.missingFolders.add('/srv/nothing');
    await open(CHAT);
    await addByKeyboard('/srv/nothing');
    await panel().getByText('"/srv/nothing" cannot be allowed').waitFor();
    expect(await field().inputValue()).toBe('/srv/nothing');
    expect(await chip('/srv/nothing').count()).toBe(0);

    fake.missingFolders.clear();
    fake.faults.set(CHANGE, {
      status: 403,
      body: { code: 'sign-in.read-only', title: 'You may only look.' },
    });
    await chip('/srv/a').getByRole('button').click();
    await panel().getByText('You may only look.').waitFor();
    expect(await chip('/srv/a').count()).toBe(1);
    fake.faults.delete(CHANGE);
    await field().press('Enter');
    await chip('/srv/nothing').waitFor();
    expect(await panel().getByRole('alert').count()).toBe(0);
  });

  it('show beside them what the settings allow everywhere, which is not removed here', async () => {
    const { fake, page } = visit;
    fake.allowedPaths = ['/srv/a'];
    fake.sharedPaths = ['/srv/a', '/srv/notes'];
    await open(CHAT);
    await chip('/srv/notes (in every conversation)').waitFor();
    expect(await page.getByRole('button', { name: 'Remove /srv/notes' }).count()).toBe(0);
    expect(await button().getAttribute('aria-label')).toBe('Folders that I may read: 2');
  });
});

describe('somebody who may allow no folder', () => {
  beforeEach(() => {
    visit.fake.role = 'member';
  });

  it('is offered none where none can be read', async () => {
    await visit.page.goto(`${visit.origin}/vitto`);
    await composer().waitFor();
    await expect.poll(() => button().count()).toBe(0);
    await visit.page.goto(`${visit.origin}/vitto/settings/general`);
    await visit.page.getByText('The owner of this installation or an admin allows folders.').waitFor();
    expect(await visit.page.getByRole('button', { name: 'Add a folder' }).count()).toBe(0);
  });

  it('sees what can be read, hears who allows more, and may take one away', async () => {
    visit.fake.conversationCount = 1;
    visit.fake.allowedPaths = ['/srv/a', '/srv/b'];
    await open(CHAT);
    await chip('/srv/a').waitFor();
    await button().click();
    await panel().getByText('for the owner or an admin to allow').waitFor();
    expect(await field().count()).toBe(0);
    await panel().getByRole('button', { name: 'Remove /srv/a' }).click();
    await chip('/srv/a').waitFor({ state: 'detached' });
    expect(bodies(CHANGE)).toEqual([{ allowedPaths: ['/srv/b'] }]);
  });
});
