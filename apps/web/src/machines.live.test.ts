import { readdir } from 'node:fs/promises';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { launchBrowser } from './testing/browser.ts';
import { checkLooks, LOOKS } from './testing/check-looks.ts';
import { buildWebApp, openPage, startRealVitto, type RealVitto } from './testing/real-vitto.ts';

// What people see of machines, with the real product and a real VM.

const IMAGES = '/var/cache/vitto/images';
const hasImage = (await readdir(`${IMAGES}/minimal`).catch(() => [])).length > 0;
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

  it.each(LOOKS)('are readable on $name: what runs, how it came, where a command ran', async (look) => {
    const { page, context, errors, strangers } = await openPage(browser, vitto, look);
    await page.addInitScript((language) => localStorage.setItem('vitto.language', language), look.language);
    await page.goto(`${vitto.url}/operations/system`);
    const card = page.getByRole('article', { name: /^minimal / });
    await card.getByText('sleep 600').waitFor();
    await card.getByRole('img').waitFor();
    await card.scrollIntoViewIfNeeded();
    await checkLooks(page, `machines-${look.name}`);
    await page.goto(`${vitto.url}/vitto/c/${conversation}`);
    await page
      .getByText(/^uname -sr/)
      .first()
      .waitFor();
    await checkLooks(page, `machines-chat-${look.name}`);
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
    await checkLooks(page, 'machines-suspended');
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
