import type { Browser } from 'playwright-core';
import type { Task } from '@vitto/contracts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { launchBrowser } from './testing/browser.ts';
import { buildWebApp, openPage, startRealVitto, type RealVitto } from './testing/real-vitto.ts';

// The same pages with the real product: what its engine writes is what they read.

let browser: Browser;
let vitto: RealVitto;
beforeAll(async () => {
  await buildWebApp();
  browser = await launchBrowser();
  vitto = await startRealVitto();
});
afterAll(async () => {
  await browser?.close();
  await vitto?.end();
});

const SCRIPT = `prices: { input: 3, cachedInput: 0.3, cacheWrite: 3.75, output: 15 }
conversations:
  - on: /^Compare/
    turns:
      - text: I send out two.
        calls: [{ tool: deploy_agents, arguments: { synthesis: Say which is faster, tasks: [{ description: Listen to the build, role: coder, tier: vm }, { description: Write it up, role: writer, tier: in-process }] } }]
      - text: Both have told me.
  - on: /^Listen/
    turns: [{ calls: [{ tool: run_command, arguments: { command: echo the build begins; sleep 600 } }] }]
  - on: /^Write/
    turns: [{ text: It is written up. }]
`;

it('a task deploys two, who are watched, stopped, drawn and counted', async () => {
  const { page, context, errors, strangers } = await openPage(browser, vitto);
  await page.goto(`${vitto.url}/operations/live`);
  await page.getByText('Nobody is at work.').waitFor();
  await page.locator('[data-connection=live]').waitFor({ state: 'attached' });
  const model = await vitto.writeScript('compare', SCRIPT);
  const started = await vitto.call<Task>('POST', '/api/tasks', {
    prompt: 'Compare',
    title: 'Compare',
    model,
  });
  const root = started.body.id;
  const column = (text: string) => page.locator('[data-column]', { hasText: text });
  await column('Listen to the build').getByText('the build begins', { exact: true }).waitFor();
  await column('Listen to the build').getByText('agent · coder', { exact: false }).waitFor();
  await column('It is written up.').locator('[data-state=completed]').waitFor();

  await column('Listen to the build').getByRole('button', { name: /^Stop/u }).click();
  await column('Listen to the build').getByRole('button', { name: 'Stop', exact: true }).click();
  await page.locator(`[data-column="${root}"] [data-state=completed]`).waitFor();
  await expect.poll(() => page.locator('[data-column]').count()).toBe(1);

  await page
    .locator(`[data-column="${root}"]`)
    .getByRole('link', { name: /^Timeline/u })
    .click();
  await page.getByText('2 agents', { exact: true }).waitFor();
  expect(await page.locator('[data-agent]').count()).toBe(2);
  const step = (text: string) => page.locator('[data-row^="agent:"]', { hasText: text });
  await step('Agent, coder').getByText('stopped').waitFor();
  await step('Agent, writer').getByText('done').waitFor();
  await page.locator('[data-row]', { hasText: 'Sent agents' }).getByText('Say which is faster').waitFor();
  await step('Agent, writer').click();
  await page.getByRole('link', { name: 'Open its timeline' }).click();
  await page.getByRole('link', { name: 'Compare' }).first().waitFor();

  await page.goto(`${vitto.url}/operations/agents`);
  await page.getByRole('button', { name: 'Agents of Compare' }).click();
  await expect.poll(() => page.locator('[data-row]').count()).toBe(3);

  await page.goto(`${vitto.url}/command/costs`);
  const roles = page.getByRole('region', { name: 'Agents by role' });
  await roles.getByRole('row', { name: /^coder/u }).waitFor();
  const writer = roles.getByRole('row', { name: /^writer/u }).getByRole('cell');
  expect((await writer.allTextContents()).slice(0, 3)).toEqual(['1', '1', '0']);
  expect([...errors, ...strangers]).toEqual([]);
  await context.close();
});
