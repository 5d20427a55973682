import { AxeBuilder } from '@axe-core/playwright';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchBrowser } from '../../../testing/browser.ts';
import { buildWebApp, openPage, startRealVitto, type RealVitto } from '../../../testing/real-vitto.ts';

let browser: Browser;
let vitto: RealVitto;
let receiver: Server;
const received: { headers: Record<string, string>; body: string }[] = [];
beforeAll(async () => {
  receiver = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      received.push({ headers: request.headers as Record<string, string>, body });
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  await buildWebApp();
  vitto = await startRealVitto();
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser?.close();
  await vitto?.end();
  receiver?.close();
});

describe.each([
  { width: 1280, dark: false },
  { width: 390, dark: true },
])('a webhook, at $width px', ({ width, dark }) => {
  it('is added, tried out, told of a task that ends, changed, and deleted', async () => {
    const { page, context, errors } = await openPage(browser, vitto, { width, dark });
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/w${width}`;
    await page.goto(`${vitto.url}/vitto/settings/webhooks`);
    await page.getByRole('button', { name: 'Add a webhook' }).click();
    await page.getByRole('button', { name: 'Add it' }).click();
    await page.getByText('Write a whole URL').waitFor();
    await page.getByLabel('URL').fill(url);
    await page.getByRole('button', { name: 'Add it' }).click();
    const secret = await page.locator('code', { hasText: 'whsec_' }).innerText();
    await page.getByRole('button', { name: 'I have kept it' }).click();
    expect(await page.content()).not.toContain(secret);

    received.length = 0;
    await page.getByRole('button', { name: 'Send a test' }).click();
    await page.getByText('It arrived: 204').waitFor();
    const model = await vitto.writeScript('end', 'turns:\n  - text: Done.\n');
    await vitto.call('POST', '/api/tasks', { prompt: 'end', model });
    await expect.poll(() => received.length, { timeout: 20_000 }).toBe(2);
    for (const { headers, body } of received) new Webhook(secret).verify(body, headers);
    await page.getByText('Last deliveries').click();
    await expect
      .poll(async () => {
        await page.getByRole('button', { name: 'Look again' }).click();
        return page.getByText('delivered', { exact: true }).count();
      })
      .toBe(1);
    const { violations } = await new AxeBuilder({ page }).analyze();
    expect(violations.map((one) => `${one.id}: ${one.nodes[0]?.html}`)).toEqual([]);

    await page.getByRole('button', { name: `Change the webhook to ${url}` }).click();
    await page.getByLabel('What it is for').fill('My program');
    await page.getByLabel('A task failed').uncheck();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('A task is done · I need an approval', { exact: true }).waitFor();
    await page.getByText('My program').waitFor();
    expect(await page.getByLabel('What it is for').count()).toBe(0);

    await page.getByRole('button', { name: `Delete the webhook to ${url}` }).click();
    await page.getByRole('group').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No webhooks yet.').waitFor();
    expect(errors).toEqual([]);
    await context.close();
  });
});
