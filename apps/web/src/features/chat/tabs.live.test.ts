import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildApp, launchBrowser, startVisit, type Visit } from '../../testing/browser.ts';
import { idOf } from '../../testing/event-maker.ts';
import { CONVERSATION } from '../../testing/fake-vitto.ts';

const CHAT = `/vitto/c/${CONVERSATION}`;
const TASK = idOf(1);
const APPROVAL = idOf(7);

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

const said = (page: Page) =>
  page.getByRole('region', { name: 'Conversation', exact: true }).locator('.prose').innerText();

async function openTab(page: Page): Promise<Page> {
  await page.goto(visit.origin + CHAT);
  await page.locator('[data-connection=live]').waitFor({ state: 'attached' });
  return page;
}

function beginTask(): void {
  const { fake } = visit;
  fake.emit(fake.make.created(TASK), fake.make.said(TASK, 'Count.'), fake.make.started(TASK));
}

describe('several tabs of one browser', () => {
  it('are all live by one connection, and still get answers: eight of them', async () => {
    const { fake, context, page } = visit;
    beginTask();
    const tabs = [await openTab(page)];
    while (tabs.length < 8) tabs.push(await openTab(await context.newPage()));
    fake.emit(fake.make.text(TASK, 1, 'one '), fake.make.text(TASK, 1, 'two'));
    for (const tab of tabs) await expect.poll(() => said(tab), { timeout: 20_000 }).toBe('one two');
    expect(fake.streamCount).toBe(1);
    const answers = await Promise.all(
      tabs.map((tab) => tab.evaluate(() => fetch('/api/system').then((response) => response.status))),
    );
    expect(answers).toEqual(tabs.map(() => 200));
  });

  it('go on without a gap or a repeat when the one that is connected closes', async () => {
    const { fake, context, page } = visit;
    beginTask();
    await openTab(page);
    const others = [await openTab(await context.newPage()), await openTab(await context.newPage())];
    const words: string[] = [];
    const write = (count: number) => {
      for (let at = 0; at < count; at += 1) {
        words.push(`w${words.length}`);
        fake.emit(fake.make.text(TASK, 1, `${words.at(-1)} `));
      }
    };
    write(20);
    await page.close();
    write(20);
    for (const tab of others) await expect.poll(() => said(tab), { timeout: 20_000 }).toBe(words.join(' '));
    write(20);
    for (const tab of others) await expect.poll(() => said(tab), { timeout: 20_000 }).toBe(words.join(' '));
    await expect.poll(() => fake.streamCount).toBe(1);
  });

  it('take over from one that does not answer any more', async () => {
    const { fake, context, page } = visit;
    beginTask();
    // Asleep before it was asked: it holds the lead, and says nothing.
    await page.goto(`${visit.origin}/sign-in`);
    await page.evaluate(() => {
      const asleep = navigator.locks.request('vitto.stream', () => new Promise<never>(() => {}));
      asleep.catch(() => {});
    });
    const tab = await openTab(await context.newPage());
    fake.emit(fake.make.text(TASK, 1, 'still here'));
    await expect.poll(() => said(tab), { timeout: 20_000 }).toBe('still here');
  });

  it('load their histories again when the server cannot resume, and each says that the session has ended', async () => {
    const { fake, context, page } = visit;
    beginTask();
    const tabs = [await openTab(page), await openTab(await context.newPage())];
    fake.journal.push(fake.make.turn(TASK, 1, 'Written in between.'));
    fake.sendResync();
    for (const tab of tabs)
      await expect.poll(() => said(tab), { timeout: 20_000 }).toContain('Written in between.');
    fake.emit(fake.make.completed(TASK, 'And on.'));
    for (const tab of tabs) await tab.getByText('And on.').waitFor();
    fake.isSignedIn = false;
    fake.dropStreams();
    for (const tab of tabs) await tab.getByText('Your session has ended.').first().waitFor();
  });

  it('decide an approval once: by a double click in one, and in the other as well', async () => {
    const { fake, context, page } = visit;
    beginTask();
    fake.emit(fake.make.asked(TASK, 'c1', APPROVAL, { command: 'rm -r build' }));
    const tabs = [await openTab(page), await openTab(await context.newPage())];
    fake.onDecision = (decision) => {
      fake.emit(
        fake.make.make(TASK, 'approval.decided', {
          approvalId: APPROVAL,
          callId: 'c1',
          decision: decision === 'approved' ? 'approved' : 'refused',
          by: 'web',
        }),
      );
    };
    await tabs[0]?.getByRole('button', { name: 'Approve once' }).dblclick();
    for (const tab of tabs) {
      await tab.getByText('Approved by you').waitFor();
      expect(await tab.getByRole('button', { name: 'Approve once' }).count()).toBe(0);
    }
    expect(fake.calls.filter((call) => call.path.startsWith('/api/approvals/'))).toHaveLength(1);
  });
});

describe('a clock that is wrong', () => {
  for (const hours of [-1, 1]) {
    it(`by ${hours} h tells the time that a task runs by the server's clock`, async () => {
      const { page } = visit;
      await page.addInitScript((ms) => {
        const { now } = Date;
        Date.now = () => now() + ms;
      }, hours * 3_600_000);
      beginTask();
      visit.fake.emit(visit.fake.make.starting(TASK, 'c', 'run_command', { command: 'sleep' }));
      await openTab(page);
      await expect.poll(() => page.getByRole('timer').count()).toBeGreaterThan(1);
      const timers = await page.getByRole('timer').allInnerTexts();
      for (const timer of timers) expect(timer).toMatch(/^0:[0-5]\d$/);
      await expect.poll(() => page.getByRole('timer').first().innerText()).not.toBe(timers[0]);
    });
  }
});

describe('calls at the same time', () => {
  it('are told in one line, with how many more run, and stop at once to the eye', async () => {
    const { fake, page } = visit;
    const calls = ['a', 'b', 'c'].map((id) => ({
      id,
      tool: 'run_command',
      input: { command: `make ${id}` },
    }));
    beginTask();
    fake.emit(fake.make.turn(TASK, 1, 'All at once.', { calls, costUsd: 0.02 }));
    for (const { id, tool, input } of calls) fake.emit(fake.make.starting(TASK, id, tool, input));
    await openTab(page);
    const line = page.getByText('and 2 more').locator('xpath=ancestor::div[1]');
    await line.getByText('make a').waitFor();
    await line.getByText('$0.02').waitFor();
    fake.emit(fake.make.called(TASK, 'a', 'run_command'));
    await page.getByText('and 1 more').waitFor();
    fake.onCancel = () => {};
    await page.getByRole('button', { name: 'Stop' }).click();
    await expect.poll(() => page.getByText('and 1 more').count()).toBe(0);
    await page.getByRole('button', { name: 'Stopping…' }).waitFor();
  });

  it('say what each step cost, and that a cost is not known when it is not', async () => {
    const { fake, page } = visit;
    beginTask();
    fake.emit(
      fake.make.turn(TASK, 1, 'Dear.', { costUsd: 0.25 }),
      fake.make.turn(TASK, 2, 'Free?', { costUsd: null }),
    );
    await openTab(page);
    const first = page.getByRole('button', { name: /What this step used: .*\$0\.25/ });
    await first.click();
    await page.getByText('anthropic/claude').waitFor();
    await page.getByRole('button', { name: /What this step used: .*cost unknown/ }).waitFor();
  });
});
