import type { Task } from '@vitto/contracts';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchBrowser } from './testing/browser.ts';
import { checkLooks, LOOKS } from './testing/check-looks.ts';
import { buildWebApp, openPage, startRealVitto, type RealVitto } from './testing/real-vitto.ts';

// What people are asked and told where no VM can be had, with the real product.

const SCRIPT = `turns:
  - text: I count the lines.
    calls: [{ tool: run_command, arguments: { command: "seq 3 | wc -l" } }]
  - text: There are three, or I could not count them.
`;
const TITLES = { en: 'No VM for the commands of this task', es: 'No hay VM para los comandos de esta tarea' };

describe('without a VM', () => {
  let browser: Browser;
  let vitto: RealVitto;
  let model: string;

  beforeAll(async () => {
    await buildWebApp();
    browser = await launchBrowser();
    vitto = await startRealVitto({ VITTO_VM_PROVIDER: 'none', VITTO_VM_DEGRADE: 'ask' });
    model = await vitto.writeScript('count', SCRIPT);
  });
  afterAll(async () => {
    await browser?.close();
    await vitto?.end();
  });

  /** A task that asks whether its command may run in the process sandbox. */
  async function begin(): Promise<Task> {
    const { body } = await vitto.call<Task>('POST', '/api/tasks', { prompt: 'Count the lines.', model });
    await expect.poll(() => stateOf(body.id), { timeout: 30_000 }).toBe('waiting_approval');
    return body;
  }
  const stateOf = async (id: string) => (await vitto.call<Task>('GET', `/api/tasks/${id}`)).body.state;

  it.each(LOOKS)('the question says what it means, on $name', async (look) => {
    const task = await begin();
    const { page, context, errors, strangers } = await openPage(browser, vitto, look);
    await page.addInitScript((language) => localStorage.setItem('vitto.language', language), look.language);
    for (const place of [`c/${task.conversationId}`, 'inbox']) {
      await page.goto(`${vitto.url}/vitto/${place}`);
      const card = page.getByRole('article', { name: TITLES[look.language] }).first();
      await card.getByText(/256 MiB/).waitFor();
      await card.scrollIntoViewIfNeeded();
      await checkLooks(page, `without-vm-${place === 'inbox' ? 'inbox' : 'chat'}-${look.name}`);
    }
    expect(errors).toEqual([]);
    expect(strangers).toEqual([]);
    await vitto.call('POST', `/api/tasks/${task.id}/cancel`, {});
    await context.close();
  });

  it('a yes by key runs it in the process sandbox, and the conversation says so', async () => {
    const task = await begin();
    const { page, context, errors } = await openPage(browser, vitto);
    await page.goto(`${vitto.url}/vitto/c/${task.conversationId}`);
    await page.getByRole('article', { name: TITLES.en }).focus();
    await page.keyboard.press('a');
    await page.getByText('No VM for this task; it goes on in the process sandbox.').waitFor();
    const call = page.getByRole('button', { name: /seq 3/ });
    await call.getByText('sandbox', { exact: true }).waitFor();
    await call.getByText('done').waitFor();
    await call.click();
    await page.getByText(/run_command · in the process sandbox/).waitFor();
    await checkLooks(page, 'without-vm-degraded');
    expect(errors).toEqual([]);
    await context.close();
  });

  it('a no by key, with a note, runs nothing', async () => {
    const task = await begin();
    const { page, context, errors } = await openPage(browser, vitto);
    await page.goto(`${vitto.url}/vitto/c/${task.conversationId}`);
    const card = page.getByRole('article', { name: TITLES.en });
    await card.focus();
    await page.keyboard.press('r');
    await page.keyboard.type('Wait until I have mended it.');
    await page.keyboard.press('Enter');
    await card.getByText('No commands, as you decided').waitFor();
    await card.getByText('Wait until I have mended it.').waitFor();
    await expect.poll(() => stateOf(task.id), { timeout: 30_000 }).toBe('completed');
    await checkLooks(page, 'without-vm-refused');
    expect(errors).toEqual([]);
    await context.close();
  });
});
