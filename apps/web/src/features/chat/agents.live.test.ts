import type { Browser, Locator } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { buildApp, launchBrowser, openEverything, startVisit, type Visit } from '../../testing/browser.ts';
import { checkLooks, LOOKS } from '../../testing/check-looks.ts';
import { CONVERSATION } from '../../testing/fake-vitto.ts';
import {
  agentId,
  tellAllEnded,
  tellAtWork,
  tellDeployed,
  tellDone,
  tellFailed,
  tellProgress,
  tellReport,
} from '../../testing/sample-round.ts';

// The sub-Vittos of a round in the chat, in real Chromium.

const CHAT = `/vitto/c/${CONVERSATION}`;
const PATIENCE = { timeout: 30_000 };

let browser: Browser;
let visit: Visit;
beforeAll(async () => {
  await buildApp();
  browser = await launchBrowser();
});
afterAll(() => browser.close());
afterEach(async () => {
  const { errors, strangers } = visit;
  await visit.end();
  expect(errors).toEqual([]);
  expect(strangers).toEqual([]);
});

interface Look {
  width?: number;
  height?: number;
  dark?: boolean;
  language?: string;
}
async function open(look: Look = {}): Promise<void> {
  await visit.page.addInitScript(
    (language) => localStorage.setItem('vitto.language', language),
    look.language ?? 'en',
  );
  await visit.page.goto(visit.origin + CHAT);
  await visit.page.locator('[data-connection=live]').waitFor({ state: 'attached' });
}
async function start(look: Look = {}): Promise<void> {
  visit = await startVisit(browser, look);
}

const thread = () => visit.page.getByRole('region', { name: 'Conversation', exact: true });
const head = () => thread().getByRole('button', { name: /Deploying \d+ agents?|\d+ agents?:/ });
const list = () => thread().getByRole('list', { name: 'Agents of this round' });
const row = (at: number) => list().locator(`[data-agent="${agentId(at)}"]`);
const says = (text: string | RegExp) => head().filter({ hasText: text });
const hasFocus = (locator: Locator) => locator.evaluate((element) => element === document.activeElement);
const heightOf = (locator: Locator) => locator.evaluate((element) => element.getBoundingClientRect().height);

describe('the group of a round', () => {
  it('lives from the call to the report: who is where, how a VM came, what runs, how each ended', async () => {
    await start();
    const { fake, page } = visit;
    await open();
    tellDeployed(fake);
    await says('Deploying 5 agents').waitFor();
    await says('Round 1 of 3 · 5 waiting').waitFor();
    // In the place of the card of the call, not beside it.
    expect(
      await thread()
        .getByRole('button', { name: /Deploy agents/ })
        .count(),
    ).toBe(0);
    expect(await list().getByRole('listitem').count()).toBe(5);
    await row(4).getByText('waits for 2 others').waitFor();
    expect(await row(0).locator('b').count()).toBe(0);

    tellAtWork(fake);
    await says('1 asks you · 2 running · 2 waiting').waitFor();
    await row(0).getByText('in a VM, restored in 180 ms').waitFor();
    await row(0).getByText('npm test -- --reporter=dot').waitFor();
    expect(await row(0).getByRole('timer').count()).toBe(2);
    await row(1)
      .getByText(/No VM; it goes on in the process sandbox: All machines/)
      .waitFor();
    await row(2).getByRole('link', { name: 'Answer in the inbox' }).waitFor();
    await page.getByText('3 agents at work').waitFor();
    await row(2).getByRole('button', { name: '2 tools withheld' }).click();
    await row(2).getByText('a writer has no tools that leave the sandbox').waitFor();
    expect(await row(3).getByText('agent', { exact: true }).count()).toBe(1);

    tellAllEnded(fake);
    await says('5 agents: 1 done, 1 not achieved, 1 failed, 1 stopped, 1 timed out').waitFor();
    await says('Synthesizing…').waitFor();
    await row(0).getByText('What agent 1 found').waitFor();
    await row(3).getByText('The budget of tokens is used up').waitFor();
    expect(await row(0).getByRole('timer').count()).toBe(0);
    // From its beginning on, as its timer went.
    await row(0)
      .getByText(/^1 min \d\d s$/)
      .waitFor();
    expect(
      await list()
        .getByRole('button', { name: /^(Stop|Steer)/ })
        .count(),
    ).toBe(0);
    await thread().getByText('Then: One report').waitFor();
    await thread().getByRole('button', { name: 'Open sub-vitto-results.md' }).waitFor();
    await thread().getByText('Text from outside: what sub-Vittos read').waitFor();

    tellReport(fake);
    await thread().getByText('41 s became 19 s').first().waitFor();
    await expect.poll(() => says('Synthesizing…').count()).toBe(0);
  });

  it('is told once when it begins and once when all have ended', async () => {
    await start();
    const { fake, page } = visit;
    await open();
    tellDeployed(fake);
    await page.getByRole('status').getByText('5 agents are at work').waitFor();
    tellAtWork(fake);
    tellDone(fake, 0);
    await says('1 done').waitFor();
    expect(await page.getByRole('status').getByText('5 agents are at work').count()).toBe(1);
    tellAllEnded(fake);
    await page.getByRole('status').getByText('All agents have ended').waitFor();
  });

  it('closes and opens by keyboard, stays as a person left it, and is closed where it had ended before', async () => {
    await start();
    const { fake, page } = visit;
    tellDeployed(fake);
    await open();
    await head().focus();
    expect(await head().getAttribute('aria-expanded')).toBe('true');
    await page.keyboard.press('Enter');
    await expect.poll(() => list().count()).toBe(0);
    expect(await head().getAttribute('aria-expanded')).toBe('false');
    tellAtWork(fake);
    await says('1 asks you').waitFor();
    expect(await list().count()).toBe(0);
    await page.keyboard.press('Space');
    await row(0).waitFor();
    // What is open at the end stays: nothing jumps.
    tellAllEnded(fake);
    tellReport(fake);
    await says('5 agents:').waitFor();
    await row(0).waitFor();
    await page.reload();
    await says('5 agents:').waitFor();
    expect(await list().count()).toBe(0);
  });

  it('leads to the timeline of each', async () => {
    await start();
    tellDeployed(visit.fake);
    await open();
    await row(1).getByRole('link', { name: 'Run the whole suite' }).click();
    await visit.page.waitForURL(`**/vitto/t/${agentId(1)}`);
  });

  it('has its height before its code has come', async () => {
    await start();
    const { page, fake } = visit;
    let release = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    await page.route(/agents-group/, async (route) => {
      await released;
      await route.continue();
    });
    tellDeployed(fake);
    await open();
    const place = thread().locator('li[data-key^="call:"]');
    await place.locator('[aria-busy=true]').waitFor();
    const before = await heightOf(place);
    release();
    await row(4).waitFor();
    expect(Math.abs((await heightOf(place)) - before)).toBeLessThan(6);
  });

  it('does not move while its rows change', async () => {
    await start();
    const { fake } = visit;
    tellDeployed(fake);
    await open();
    await row(4).waitFor();
    const before = await heightOf(list());
    for (const at of [0, 1, 2, 3]) {
      tellProgress(fake, at, { currentTool: 'run_command', detail: 'npm test '.repeat(20) });
      const acquired = { id: agentId(at), vmId: 'v', restored: false, acquireTimeMs: 1_400 };
      fake.emit(fake.make.make(fake.journal[0]?.taskId ?? '', 'subvitto.vm_acquired', acquired));
    }
    await row(0).getByText('booted in 1.4 s').waitFor();
    await row(3).getByText('npm test').waitFor();
    expect(await heightOf(list())).toBe(before);
    for (const at of [0, 1, 2]) tellDone(fake, at);
    await says('3 done').waitFor();
    expect(await heightOf(list())).toBe(before);
  });
});

describe('a row', () => {
  const stopPath = `/api/tasks/${agentId(0)}/cancel`;
  const messagePath = `/api/tasks/${agentId(0)}/messages`;

  it('stops its agent after asking, and says when that did not work', async () => {
    await start();
    const { fake, page } = visit;
    tellDeployed(fake);
    tellAtWork(fake);
    await open();
    const stop = row(0).getByRole('button', { name: /^Stop Rewrite the parser/ });
    await stop.click();
    await row(0).getByText('Stop this agent?').waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => hasFocus(stop)).toBe(true);
    expect(fake.calls).toEqual([]);

    fake.faults.set(`POST ${stopPath}`, {
      status: 503,
      body: { code: 'server.stopping', title: 'The server is stopping.', hint: 'Try again in a minute.' },
    });
    await stop.click();
    const confirm = row(0).getByRole('button', { name: 'Stop', exact: true });
    await confirm.click();
    await row(0).getByText('It could not be stopped.').waitFor();
    await row(0).getByText('Try again in a minute.').waitFor();
    fake.faults.clear();
    await confirm.click();
    await row(0).getByText('stopping…').waitFor();
    expect(fake.calls.map(({ path }) => path)).toEqual([stopPath, stopPath]);
    expect(await hasFocus(stop)).toBe(true);
    tellFailed(fake, 0, 'cancelled');
    await row(0).getByText('stopped', { exact: true }).waitFor();
    // The button that had the focus is gone.
    await expect.poll(() => hasFocus(row(0).getByRole('link'))).toBe(true);
    await says('1 stopped').waitFor();
  });

  it('tells its agent something, keeps the text until it has arrived, and never sends it twice', async () => {
    await start();
    const { fake, page } = visit;
    tellDeployed(fake);
    tellAtWork(fake);
    await open();
    await row(0)
      .getByRole('button', { name: /^Steer Rewrite/ })
      .click();
    const field = row(0).getByRole('textbox');
    await expect.poll(() => hasFocus(field)).toBe(true);
    await page.keyboard.press('Enter');
    expect(fake.calls).toEqual([]);
    await field.fill('Leave the tests alone.');
    fake.faults.set(`POST ${messagePath}`, 'drop');
    await page.keyboard.press('Enter');
    await row(0).getByText('Not sent. Your text is kept.').waitFor();
    expect(await field.inputValue()).toBe('Leave the tests alone.');
    fake.faults.clear();
    await page.keyboard.press('Enter');
    await row(0).getByText('Sent. It reads this at its next step.').waitFor();
    expect(await field.inputValue()).toBe('');
    const [first, second] = fake.calls.map(({ headers }) => headers['idempotency-key']);
    expect(first).toBe(second);
    expect(fake.calls[1]).toMatchObject({ path: messagePath, body: { text: 'Leave the tests alone.' } });
  });

  it('keeps what is being written to an agent that ends meanwhile, and says why it cannot be sent', async () => {
    await start();
    const { fake, page } = visit;
    tellDeployed(fake);
    tellAtWork(fake);
    await open();
    await row(0)
      .getByRole('button', { name: /^Steer Rewrite/ })
      .click();
    const field = row(0).getByRole('textbox');
    await field.fill('Wait for me.');
    tellDone(fake, 0);
    await row(0).getByText('done', { exact: true }).waitFor();
    fake.faults.set(`POST ${messagePath}`, {
      status: 409,
      body: { code: 'task.ended', title: 'This task has ended.', hint: 'Write to its parent.' },
    });
    await field.press('Enter');
    await row(0).getByText('This task has ended.').waitFor();
    expect(await field.inputValue()).toBe('Wait for me.');
    await page.keyboard.press('Escape');
    await expect.poll(() => hasFocus(row(0).getByRole('link'))).toBe(true);
  });
});

describe('a hundred agents', () => {
  it('stand in a window of their own that opens at the first that has not ended, and are drawn anew only as they change', async () => {
    await start();
    const { fake } = visit;
    tellDeployed(fake, 100);
    for (let at = 0; at < 40; at += 1) tellDone(fake, at);
    for (let at = 40; at < 45; at += 1) tellProgress(fake, at, { currentTool: 'run_command', detail: 'ls' });
    await open();
    await says('Deploying 100 agents').waitFor();
    await says('5 running · 55 waiting · 40 done').waitFor();
    expect(await heightOf(list())).toBeLessThanOrEqual(512);
    const inSight = (at: number) =>
      row(at).evaluate((element) => {
        const box = element.getBoundingClientRect();
        const window = element.parentElement?.getBoundingClientRect();
        return window !== undefined && box.top >= window.top - 1 && box.bottom <= window.bottom + 1;
      });
    await expect.poll(() => inSight(40), PATIENCE).toBe(true);

    // What five of them do touches no row of the others.
    const mutated = await list().evaluateHandle((element) => {
      const touched = new Set<string>();
      new MutationObserver((changes) => {
        for (const { target } of changes) {
          const at = target instanceof Element ? target : target.parentElement;
          touched.add(at?.closest('[data-agent]')?.getAttribute('data-agent') ?? '');
        }
      }).observe(element, { subtree: true, childList: true, characterData: true, attributes: true });
      return touched;
    });
    for (let step = 0; step < 60; step += 1)
      for (let at = 40; at < 45; at += 1)
        tellProgress(fake, at, { iteration: step, currentTool: 'run_command', detail: `step ${step}` });
    await row(44).getByText('step 59').waitFor();
    const touched = await mutated.evaluate((all) => [...all]);
    expect(new Set(touched)).toEqual(new Set([40, 41, 42, 43, 44].map(agentId)));
  });

  it('are one group over pages of history, however many of them their steps fill', async () => {
    await start();
    const { fake } = visit;
    fake.historyLimit = 60;
    tellDeployed(fake, 20);
    for (let step = 0; step < 10; step += 1)
      for (let at = 0; at < 20; at += 1)
        tellProgress(fake, at, { iteration: step, currentTool: 'read_file' });
    await open();
    await says('Deploying 20 agents').waitFor(PATIENCE);
    await thread().getByText('This falls into parts').waitFor();
    expect(await thread().locator('[data-agent]').count()).toBe(20);
  });
});

describe('how it looks', () => {
  for (const look of LOOKS) {
    it(`is accessible and fits: ${look.name}`, async () => {
      await start(look);
      const { fake, page } = visit;
      tellDeployed(fake);
      tellAtWork(fake);
      await open(look);
      await page.locator(`[data-agent="${agentId(4)}"]`).waitFor();
      await checkLooks(page, `agents-at-work-${look.name}`);
      await openEverything(page);
      const buttons = page.locator(`[data-agent="${agentId(0)}"] button[aria-expanded=false]`);
      await buttons.last().click();
      await page
        .locator(`[data-agent="${agentId(1)}"] button[aria-expanded=false]`)
        .first()
        .click();
      await checkLooks(page, `agents-opened-${look.name}`);
      tellAllEnded(fake);
      await page.locator(`[data-agent="${agentId(4)}"][data-state=timeout]`).waitFor();
      await checkLooks(page, `agents-ended-${look.name}`);
      tellReport(fake);
      await page.getByText('41 s became 19 s').first().waitFor();
      await checkLooks(page, `agents-reported-${look.name}`);
    });
  }

  it('fits with a hundred on a phone', async () => {
    await start({ width: 390, height: 844 });
    tellDeployed(visit.fake, 100);
    for (let at = 0; at < 5; at += 1)
      tellProgress(visit.fake, at, { currentTool: 'run_command', detail: 'npm test' });
    await open();
    await says('5 running · 95 waiting').waitFor();
    await checkLooks(visit.page, 'agents-hundred-phone');
  });
});
