import { AxeBuilder } from '@axe-core/playwright';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildApp, launchBrowser, startVisit, type Visit } from '../testing/browser.ts';
import { idOf } from '../testing/event-maker.ts';
import { CONVERSATION } from '../testing/fake-vitto.ts';

const CHAT = `/vitto/c/${CONVERSATION}`;

let browser: Browser;
let visit: Visit;
beforeAll(async () => {
  await buildApp();
  browser = await launchBrowser();
});
afterAll(() => browser.close());
beforeEach(async () => {
  visit = await startVisit(browser);
  await visit.page.goto(visit.origin + CHAT);
  await link('A conversation').waitFor();
});
afterEach(async () => {
  const { errors, strangers } = visit;
  await visit.end();
  expect(errors).toEqual([]);
  expect(strangers).toEqual([]);
});

const rail = () => visit.page.getByRole('navigation').first();
const link = (name: string) => rail().getByRole('link', { name, exact: true });
const search = () => rail().getByRole('searchbox', { name: 'Search conversations' });
/** The buttons of a row come into sight when it is pointed at. */
async function press(name: string): Promise<void> {
  await link('A conversation').hover();
  await rail().getByRole('button', { name }).click();
}
const check = async () => (await new AxeBuilder({ page: visit.page }).analyze()).violations;

describe('a conversation in the list', () => {
  it('is renamed where it stands, by keyboard, and Escape leaves it as it was', async () => {
    const { fake, page } = visit;
    await link('A conversation').focus();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    const field = rail().getByRole('textbox', { name: 'Title of the conversation' });
    await field.waitFor();
    expect(await check()).toEqual([]);
    await page.keyboard.type('Another name');
    await page.keyboard.press('Escape');
    await link('A conversation').waitFor();
    expect(await link('A conversation').evaluate((element) => element === document.activeElement)).toBe(true);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.keyboard.type('The new name');
    await page.keyboard.press('Enter');
    await link('The new name').waitFor();
    await page.getByRole('heading', { level: 1, name: 'The new name' }).waitFor();
    expect(fake.calls.at(-1)).toMatchObject({ method: 'PATCH', body: { title: 'The new name' } });
  });

  it('says when it could not be renamed, and keeps what was typed', async () => {
    visit.fake.faults.set(`PATCH /api/conversations/${CONVERSATION}`, {
      status: 503,
      body: { code: 'busy', title: 'The database is away.' },
    });
    await press('Rename “A conversation”');
    await visit.page.keyboard.type('Kept');
    await visit.page.keyboard.press('Enter');
    await rail().getByText('The database is away.').waitFor();
    expect(await rail().getByRole('textbox', { name: 'Title of the conversation' }).inputValue()).toBe(
      'Kept',
    );
  });

  it('is deleted after a question that says that it is for good, and takes who looks at it away', async () => {
    const { fake, page } = visit;
    await press('Delete “A conversation”');
    await rail().getByText('It cannot be undone.').waitFor();
    expect(await check()).toEqual([]);
    await page.keyboard.press('Enter');
    await link('A conversation').waitFor();
    expect(fake.calls.filter((call) => call.method === 'DELETE')).toEqual([]);
    await press('Delete “A conversation”');
    await rail().getByRole('button', { name: 'Delete', exact: true }).dblclick();
    await page.waitForURL(`${visit.origin}/vitto`);
    await rail().getByText('No conversations yet.').waitFor();
    expect(fake.calls.filter((call) => call.method === 'DELETE')).toHaveLength(1);
  });
});

describe('the search over the conversations', () => {
  it('is a key away, shows where the words stand, and leads to the place', async () => {
    const { fake, page } = visit;
    const { make } = fake;
    for (let at = 0; at < 40; at += 1) {
      fake.emit(make.created(idOf(100 + at)), make.said(idOf(100 + at), `thing ${at}`));
      fake.emit(make.completed(idOf(100 + at), `done ${at}`));
    }
    const wanted = fake.journal.find((event) => event.payload['text'] === 'thing 3');
    fake.hits = [
      {
        conversationId: CONVERSATION,
        title: '<b>A</b> conversation',
        taskId: null,
        kind: 'message',
        excerpt: [
          { text: '<i>thing', isMatch: true },
          { text: ' 3', isMatch: false },
        ],
        position: wanted?.position ?? null,
        at: '2026-03-01T10:00:00.000Z',
      },
    ];
    await page.keyboard.press('Control+k');
    expect(await search().evaluate((element) => element === document.activeElement)).toBe(true);
    await page.keyboard.type('thing');
    await rail().getByText('1 place found').waitFor();
    expect(await rail().locator('mark').innerText()).toBe('<i>thing');
    expect(await check()).toEqual([]);
    expect(fake.searches.at(-1)).toBe('thing');
    await rail()
      .getByRole('link', { name: /thing 3/ })
      .click();
    await page.waitForURL(`**at=${wanted?.position}`);
    const row = page
      .getByRole('region', { name: 'Conversation', exact: true })
      .getByText('thing 3', { exact: true });
    await row.waitFor();
    await expect
      .poll(() => page.evaluate(() => document.activeElement?.textContent ?? ''))
      .toContain('thing 3');
    await search().focus();
    await page.keyboard.press('Escape');
    await link('A conversation').waitFor();
  });

  it('says that nothing was found, and what went wrong', async () => {
    const { fake } = visit;
    await search().fill('nothing like it');
    await rail().getByText('Nothing found.').waitFor();
    fake.faults.set('GET /api/search', {
      status: 503,
      body: { code: 'busy', title: 'The database is away.' },
    });
    await search().fill('again');
    await rail().getByText('The database is away.').waitFor();
    fake.faults.clear();
    await rail().getByRole('button', { name: 'Try again' }).click();
    await rail().getByText('Nothing found.').waitFor();
    await rail().getByRole('button', { name: 'Clear the search' }).click();
    await link('A conversation').waitFor();
  });
});
