import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchBrowser } from '../../testing/browser.ts';
import { buildWebApp, openPage, startRealVitto, type RealVitto } from '../../testing/real-vitto.ts';

// The group of a round with the real product: what its engine writes is what the chat reads.

const LONG = { timeout: 90_000 };
const SCRIPT = `
conversations:
  - on: /^Compare/
    turns:
      - text: I send out three.
        calls:
          - tool: deploy_agents
            arguments:
              synthesis: Say which is faster
              tasks:
                - { description: Listen to the build, role: coder, tier: vm }
                - { description: Write it up, role: writer, tier: in-process }
                - { description: Review both, role: reviewer, tier: in-process, dependsOn: [0, 1] }
      - text: All have told me.
  - on: /^Listen/
    turns:
      - calls: [{ tool: run_command, arguments: { command: echo the build begins; sleep 600 } }]
      - text: I was told to stop listening.
  - on: /^Write/
    turns: [{ text: It is written up. }]
  - on: /^Review/
    turns: [{ text: Both are fine. }]
`;

let browser: Browser;
let vitto: RealVitto;
let page: Page;
let context: BrowserContext;
let errors: string[];
let strangers: string[];
beforeAll(async () => {
  await buildWebApp();
  browser = await launchBrowser();
  vitto = await startRealVitto();
  const model = await vitto.writeScript('compare', SCRIPT);
  await vitto.call('PATCH', '/api/settings', { models: { main: model } });
  ({ page, context, errors, strangers } = await openPage(browser, vitto));
});
afterAll(async () => {
  await context?.close();
  await browser?.close();
  await vitto?.end();
});

const thread = () => page.getByRole('region', { name: 'Conversation', exact: true });
const head = (text: string) => thread().getByRole('button', { name: text });
const row = (text: string) => thread().locator('li[data-agent]', { hasText: text });

describe('a round of the real engine in the chat', () => {
  it('is followed, steered, stopped in part and reported, and is the same when it is read again', async () => {
    await page.goto(`${vitto.url}/vitto`);
    await page.getByRole('textbox', { name: 'Message to Vitto' }).fill('Compare the two builds');
    await page.keyboard.press('Enter');
    await head('Deploying 3 agents').waitFor(LONG);
    await row('Listen to the build').getByText('echo the build begins').waitFor(LONG);
    await row('Write it up').getByText('done', { exact: true }).waitFor(LONG);
    await row('Review both').getByText('waits for another').waitFor(LONG);
    await page.getByText('1 agent at work').waitFor(LONG);
    await head('Round 1 of 3').waitFor();

    // What has begun is there for whoever comes later, the one that runs with its command.
    await page.reload();
    await row('Listen to the build').getByText('echo the build begins').waitFor(LONG);
    await page.getByText('1 agent at work').waitFor(LONG);
    await row('Listen to the build')
      .getByRole('button', { name: /^Steer/ })
      .click();
    await page.keyboard.type('Listen to the end of it only.');
    await page.keyboard.press('Enter');
    await row('Listen to the build').getByText('Sent. It reads this').waitFor(LONG);
    await page.keyboard.press('Escape');

    await row('Listen to the build').getByRole('button', { name: /^Stop/ }).click();
    await row('Listen to the build').getByRole('button', { name: 'Stop', exact: true }).click();
    await row('Listen to the build').getByText('stopped', { exact: true }).waitFor(LONG);
    await row('Review both').getByText('done', { exact: true }).waitFor(LONG);
    await head('3 agents: 2 done, 1 stopped').waitFor(LONG);
    await thread().getByText('All have told me.').first().waitFor(LONG);
    await thread().getByText('Done', { exact: true }).waitFor(LONG);
    const standing = () =>
      thread()
        .locator('li[data-agent]')
        .evaluateAll((all) => all.map((one) => one.getAttribute('data-state')));
    const live = await standing();
    expect(live).toEqual(['cancelled', 'done', 'done']);
    expect(await thread().getByText('Deploy agents').count()).toBe(0);

    await page.reload();
    await head('3 agents: 2 done, 1 stopped').click();
    expect(await standing()).toEqual(live);
    await row('Write it up').getByRole('link').click();
    await page.waitForURL('**/vitto/t/*');
    expect([...errors, ...strangers]).toEqual([]);
  });
});
