import { readdir } from 'node:fs/promises';
import { AxeBuilder } from '@axe-core/playwright';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { launchBrowser } from './testing/browser.ts';
import { buildWebApp, openPage, startRealVitto, type RealVitto } from './testing/real-vitto.ts';

// What people see of machines, with the real product and a real VM.

const IMAGES = '/var/cache/vitto/images';
const hasImage = (await readdir(`${IMAGES}/minimal`).catch(() => [])).length > 0;
/** A folder for pictures of each page, to look at while working. */
const SHOTS = process.env['VITTO_SHOTS'];
const LOOKS = [
  { name: 'desktop-light', width: 1280, height: 1000, dark: false, language: 'en' },
  { name: 'phone-dark', width: 390, height: 844, dark: true, language: 'en' },
  { name: 'phone-light-es', width: 390, height: 844, dark: false, language: 'es' },
];
const SCRIPT = `turns:
  - text: I look at the machine.
    calls: [{ tool: run_command, arguments: { command: "uname -sr && nproc && df -h / | tail -1" } }]
  - calls: [{ tool: run_command, arguments: { command: "echo waiting; sleep 600" } }]
  - text: It is a Linux machine with two processors.
`;

describe.skipIf(!hasImage)('machines', () => {
  let browser: Browser;
  let vitto: RealVitto;
  let conversation: string;
  let task: string;

  beforeAll(async () => {
    await buildWebApp();
    browser = await launchBrowser();
    vitto = await startRealVitto({
      VITTO_VM_PROVIDER: 'qemu',
      VITTO_VM_DEGRADE: 'never',
      VITTO_VM_DEVELOPER_TEMPLATE: 'minimal',
      VITTO_VM_MEMORY_MIB: '256',
      VITTO_IMAGES: IMAGES,
    });
    const model = await vitto.writeScript('machine', SCRIPT);
    const { body } = await vitto.call<{ id: string; conversationId: string }>('POST', '/api/tasks', {
      prompt: 'What kind of machine have you got?',
      model,
    });
    task = body.id;
    conversation = body.conversationId;
    await vi.waitFor(async () => expect(await commands()).toHaveLength(1), {
      timeout: 120_000,
      interval: 200,
    });
  });
  afterAll(async () => {
    await browser?.close();
    await vitto?.end();
  });

  async function commands(): Promise<unknown[]> {
    type Overview = { sandboxes: { commands: { command: string }[] }[] };
    const { body } = await vitto.call<Overview>('GET', '/api/sandbox');
    return body.sandboxes.flatMap((one) =>
      one.commands.filter(({ command }) => command.includes('sleep 600')),
    );
  }

  async function check(page: Page, name: string): Promise<void> {
    // What fades in has no contrast yet.
    await page.waitForFunction(() =>
      document
        .getAnimations()
        .every(
          ({ playState, effect }) => playState !== 'running' || effect?.getTiming().iterations === Infinity,
        ),
    );
    if (SHOTS !== undefined) await page.screenshot({ path: `${SHOTS}/${name}.png`, fullPage: true });
    expect(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)).toBe(false);
    const { violations } = await new AxeBuilder({ page }).include('#content').analyze();
    expect(
      violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.html).join(' ')}`),
      name,
    ).toEqual([]);
  }

  it.each(LOOKS)('are readable on $name: what runs, how it came, where a command ran', async (look) => {
    const { page, context, errors, strangers } = await openPage(browser, vitto, look);
    await page.addInitScript((language) => localStorage.setItem('vitto.language', language), look.language);
    await page.goto(`${vitto.url}/operations/system`);
    const card = page.getByRole('article', { name: /^minimal / });
    await card.getByText('sleep 600').waitFor();
    await card.getByRole('img').waitFor();
    await card.scrollIntoViewIfNeeded();
    await check(page, `machines-${look.name}`);
    await page.goto(`${vitto.url}/vitto/c/${conversation}`);
    await page
      .getByText(/^uname -sr/)
      .first()
      .waitFor();
    await check(page, `machines-chat-${look.name}`);
    expect(errors).toEqual([]);
    expect(strangers).toEqual([]);
    await context.close();
  });

  it('are suspended and forgotten from their card, by keyboard too, and never without a question', async () => {
    await vitto.call('POST', `/api/tasks/${task}/cancel`, {});
    const { page, context, errors } = await openPage(browser, vitto);
    await page.goto(`${vitto.url}/operations/system`);
    const card = page.getByRole('article', { name: /^minimal / });
    await card.getByText('nobody').waitFor();
    await card.getByRole('button', { name: /^Snapshot and suspend/ }).focus();
    await page.keyboard.press('Enter');
    await card.getByText('Suspended', { exact: true }).waitFor();
    await card.getByText(/old, [\d.]+ MB/).waitFor();
    await check(page, 'machines-suspended');
    await card.getByRole('button', { name: /^Forget/ }).click();
    await card.getByText(/Every file in it is lost/).waitFor();
    await page.keyboard.press('Escape');
    await card.getByText('Suspended', { exact: true }).waitFor();
    await card.getByRole('button', { name: /^Forget/ }).click();
    await card.getByRole('group').getByRole('button', { name: 'Forget', exact: true }).click();
    await page.getByText(/^No machines yet/).waitFor();
    expect(errors).toEqual([]);
    await context.close();
  });
});
