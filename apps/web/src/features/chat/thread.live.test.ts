import type { Browser, Locator } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildApp, launchBrowser, startVisit, type Visit } from '../../testing/browser.ts';
import { idOf } from '../../testing/event-maker.ts';
import { CONVERSATION } from '../../testing/fake-vitto.ts';

const CHAT = `/vitto/c/${CONVERSATION}`;
const TASK = idOf(1);
/** More rows than this are never in the page. */
const ROWS_MAX = 80;
const PATIENCE = { timeout: 30_000 };

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

const thread = () => visit.page.getByRole('region', { name: 'Conversation', exact: true });
const rows = () => thread().locator('li[data-key]');
const composer = () => visit.page.getByRole('textbox', { name: 'Message to Vitto' });
const hasFocus = (locator: Locator) => locator.evaluate((element) => element === document.activeElement);
const topOf = (locator: Locator) => locator.evaluate((element) => element.getBoundingClientRect().top);
const fromEnd = () =>
  thread().evaluate((element) => element.scrollHeight - element.scrollTop - element.clientHeight);

async function open(search = ''): Promise<void> {
  await visit.page.goto(visit.origin + CHAT + search);
  await visit.page.locator('[data-connection=live]').waitFor({ state: 'attached' });
}

/** Questions with answers of several lines. */
function tellHistory(count: number): void {
  const { make } = visit.fake;
  for (let at = 0; at < count; at += 1) {
    const task = idOf(10_000 + at);
    visit.fake.emit(
      make.created(task),
      make.said(task, `question ${at}`),
      make.turn(task, 1, `answer ${at}\n\n${'- a point\n'.repeat(at % 7)}`),
      make.completed(task, `answer ${at}`),
    );
  }
}

describe('a long thread', () => {
  it('has few rows in the page, and keeps what is read in its place when an older page comes in', async () => {
    visit.fake.historyLimit = 200;
    tellHistory(300);
    await open();
    await thread().getByText('question 299', { exact: true }).waitFor();
    expect(await rows().count()).toBeLessThan(ROWS_MAX);
    const scrollTop = () => thread().evaluate((element) => element.scrollTop);
    await expect
      .poll(async () => {
        await thread().evaluate((element) => (element.scrollTop = Math.max(900, element.scrollTop - 600)));
        return scrollTop();
      }, PATIENCE)
      .toBe(900);
    await thread().getByText('question 255', { exact: true }).waitFor();
    // So far up the page before is asked for; what is read is noted before it can come.
    const read = await thread().evaluate((element) => {
      element.scrollTop = 700;
      const { top } = element.getBoundingClientRect();
      const row = [...element.querySelectorAll('li[data-key]')].find(
        (one) => one.getBoundingClientRect().top >= top,
      );
      return { key: row?.getAttribute('data-key') ?? '', top: row?.getBoundingClientRect().top ?? 0 };
    });
    await expect.poll(scrollTop, PATIENCE).toBeGreaterThan(3_000);
    const now = await topOf(thread().locator(`li[data-key="${read.key}"]`));
    expect(Math.abs(now - read.top)).toBeLessThan(3);
    expect(await rows().count()).toBeLessThan(ROWS_MAX);
  });

  it('keeps its end in sight while it grows, and leaves alone who has scrolled up', async () => {
    const { fake } = visit;
    tellHistory(30);
    fake.emit(fake.make.created(TASK), fake.make.said(TASK, 'Tell me more.'), fake.make.started(TASK));
    await open();
    for (let at = 0; at < 60; at += 1) fake.emit(fake.make.text(TASK, 1, `Line ${at} of it.\n\n`));
    await thread().getByText('Line 59 of it.').waitFor();
    await expect.poll(fromEnd).toBeLessThan(5);
    await visit.page.setViewportSize({ width: 1280, height: 500 });
    await expect.poll(fromEnd).toBeLessThan(5);

    await thread().hover();
    await visit.page.mouse.wheel(0, -1_500);
    await visit.page.getByRole('button', { name: 'Latest' }).waitFor();
    const top = await thread().evaluate((element) => element.scrollTop);
    for (let at = 60; at < 90; at += 1) fake.emit(fake.make.text(TASK, 1, `Line ${at} of it.\n\n`));
    await expect.poll(fromEnd).toBeGreaterThan(1_500);
    expect(await thread().evaluate((element) => element.scrollTop)).toBe(top);
    await visit.page.getByRole('button', { name: 'Latest' }).click();
    await thread().getByText('Line 89 of it.').waitFor();
    await expect.poll(fromEnd).toBeLessThan(5);
  });

  it('shows 500 calls of one turn, keeps the focus of one that scrolls out, and what was opened open', async () => {
    const { fake } = visit;
    const calls = Array.from({ length: 500 }, (_, at) => ({
      id: `c${at}`,
      tool: 'read_file',
      input: { path: `/srv/file-${at}.ts` },
    }));
    fake.emit(fake.make.created(TASK), fake.make.started(TASK), fake.make.turn(TASK, 1, '', { calls }));
    for (const { id, tool, input } of calls)
      fake.emit(
        fake.make.starting(TASK, id, tool, input),
        fake.make.called(TASK, id, tool, { text: `text of ${id}` }),
      );
    await open();
    const last = thread().getByRole('button', { name: 'file-499' });
    await last.click();
    await thread().getByText('text of c499').waitFor();
    expect(await rows().count()).toBeLessThan(ROWS_MAX);
    const first = thread().getByRole('button', { name: 'file-0.ts' });
    await expect
      .poll(async () => {
        await thread().evaluate((element) => (element.scrollTop = 0));
        return first.count();
      }, PATIENCE)
      .toBe(1);
    // It is still there with the focus, after the others.
    expect(await hasFocus(last)).toBe(true);
    const order = await rows().evaluateAll((all) => all.map((row) => Number(row.getAttribute('data-index'))));
    expect(order).toEqual([...order].sort((a, b) => a - b));
    await first.focus();
    await thread().evaluate((element) => (element.scrollTop = 700));
    await expect.poll(() => thread().getByText('text of c499').count()).toBe(0);
    await thread().evaluate((element) => (element.scrollTop = element.scrollHeight));
    await thread().getByText('text of c499').waitFor();
  });

  it('goes to the place that the address names, however far back, and gives it the focus', async () => {
    visit.fake.historyLimit = 100;
    tellHistory(300);
    const wanted = visit.fake.journal.find((event) => event.payload['text'] === 'question 20');
    await open(`?at=${wanted?.position}`);
    const row = rows().filter({ hasText: /question 20$/ });
    await row.waitFor();
    await expect.poll(() => hasFocus(row)).toBe(true);
    await expect
      .poll(() => row.evaluate((element) => element.getBoundingClientRect().top))
      .toBeGreaterThan(40);
    expect(await row.evaluate((element) => element.getBoundingClientRect().bottom)).toBeLessThan(700);
    expect(await rows().count()).toBeLessThan(ROWS_MAX);
    expect(await visit.page.getByRole('button', { name: 'Latest' }).count()).toBe(1);
  });

  it('shows a line of a megabyte by its ends, and all of it when asked', async () => {
    const { fake } = visit;
    fake.emit(
      fake.make.created(TASK),
      fake.make.started(TASK),
      fake.make.starting(TASK, 'c', 'run_command', { command: 'cat big' }),
      fake.make.progress(TASK, 'c', `begin ${'x'.repeat(500_000)}`),
      fake.make.called(TASK, 'c', 'run_command', { text: `begin ${'y'.repeat(1_000_000)} end` }),
    );
    await open();
    await thread()
      .getByRole('button', { name: /cat big/ })
      .click();
    const result = thread().getByRole('group', { name: 'Result' });
    const shown = () => result.evaluate((element) => element.textContent);
    await expect.poll(() => shown().then((text) => text.length)).toBeLessThan(100_000);
    expect((await shown()).endsWith(' end')).toBe(true);
    await thread().getByText('characters in the middle are not shown').waitFor();
    await thread().getByRole('button', { name: 'Show everything' }).click();
    await expect.poll(() => shown().then((text) => text.length)).toBeGreaterThan(1_000_000);
  });
});

describe('editing what was asked', () => {
  const FIRST = idOf(41);
  const SECOND = idOf(42);

  function tellAnswered(): void {
    const { fake } = visit;
    fake.emit(
      fake.make.created(TASK),
      fake.make.said(TASK, 'How old is it?', { messageId: FIRST }),
      fake.make.turn(TASK, 1, 'Ten years.'),
      fake.make.completed(TASK, 'Ten years.'),
    );
  }

  it('puts the message into the composer, sends it in place of the first, and folds what was before', async () => {
    const { fake, page } = visit;
    tellAnswered();
    await open();
    await composer().fill('half a thought');
    await page.getByRole('button', { name: 'Edit and send again' }).click();
    await page.getByText('You are editing an earlier message.').waitFor();
    expect(await composer().inputValue()).toBe('How old is it?');
    await page.keyboard.press('Escape');
    expect(await composer().inputValue()).toBe('half a thought');

    fake.onMessage = (text) =>
      fake.emit(
        fake.make.created(idOf(2)),
        fake.make.said(idOf(2), text, { messageId: SECOND, replaces: FIRST }),
        fake.make.turn(idOf(2), 1, 'Three metres.'),
        fake.make.completed(idOf(2), 'Three metres.'),
      );
    await page.getByRole('button', { name: 'Edit and send again' }).click();
    await composer().fill('How long is it?');
    await page.keyboard.press('Enter');
    await thread().getByText('Three metres.').waitFor();
    expect(fake.calls.at(-1)?.body).toEqual({ text: 'How long is it?', replaces: FIRST });
    expect(await composer().inputValue()).toBe('half a thought');
    expect(await thread().getByText('Ten years.').count()).toBe(0);
    await thread().getByRole('button', { name: 'Earlier version' }).click();
    await thread().getByText('Ten years.').waitFor();
    // What does not count any more is not edited.
    expect(await page.getByRole('button', { name: 'Edit and send again' }).count()).toBe(1);
  });

  it('sends a message again as it was, and says why not while something runs', async () => {
    const { fake, page } = visit;
    tellAnswered();
    await open();
    await page.getByRole('button', { name: 'Send again', exact: true }).click();
    await expect.poll(() => fake.calls.at(-1)?.body).toEqual({ text: 'How old is it?', replaces: FIRST });
    fake.emit(fake.make.created(idOf(2)), fake.make.started(idOf(2)));
    await page.getByRole('button', { name: 'Stop' }).waitFor();
    const edit = page.getByRole('button', { name: 'Edit and send again' });
    expect(await edit.getAttribute('aria-disabled')).toBe('true');
    expect(await edit.getAttribute('aria-description')).toContain('Stop me first');
    await edit.click({ force: true });
    expect(await page.getByText('You are editing an earlier message.').count()).toBe(0);
  });

  it('keeps an edit over a reload, and says what was refused', async () => {
    const { fake, page } = visit;
    tellAnswered();
    await open();
    await page.getByRole('button', { name: 'Edit and send again' }).click();
    await composer().fill('How wide is it?');
    await page.reload();
    await page.getByText('You are editing an earlier message.').waitFor();
    expect(await composer().inputValue()).toBe('How wide is it?');
    fake.faults.set(`POST /api/conversations/${CONVERSATION}/messages`, {
      status: 409,
      body: { code: 'message.replaced', title: 'This message was replaced already.', hint: 'Load it anew.' },
    });
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByText('This message was replaced already.').waitFor();
    expect(await composer().inputValue()).toBe('How wide is it?');
  });
});

it('says in its line why a task waits for a VM, until it has one', async () => {
  const { fake } = visit;
  const reason = 'Another task of yours has the machine.';
  fake.emit(
    fake.make.created(TASK),
    fake.make.started(TASK),
    fake.make.make(TASK, 'vm.waiting', { place: 1, reason }),
  );
  await open();
  await thread().getByText(`Waiting for a VM, place 1 in the line: ${reason}`).waitFor();
  fake.emit(fake.make.make(TASK, 'vm.acquired', { vmId: 'v', from: 'session' }));
  await thread().getByText('A VM is ready: it was running already').waitFor();
  expect(await thread().getByText(reason).count()).toBe(0);
});
