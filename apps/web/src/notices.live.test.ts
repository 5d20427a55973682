import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchBrowser } from './testing/browser.ts';
import { buildWebApp, openPage, startRealVitto, type RealVitto } from './testing/real-vitto.ts';

let browser: Browser;
let vitto: RealVitto;
let page: Page;
let context: BrowserContext;
let errors: string[];
let model: string;
beforeAll(async () => {
  await buildWebApp();
  vitto = await startRealVitto();
  browser = await launchBrowser();
  ({ page, context, errors } = await openPage(browser, vitto));
  await context.grantPermissions(['notifications'], { origin: vitto.url });
  model = await vitto.writeScript(
    'ask',
    `turns:
  - calls: [{ tool: ask_user, arguments: { question: "Which <b>colour</b>?" } }]
  - text: Thank you.
`,
  );
});
afterAll(async () => {
  await browser?.close();
  await vitto?.end();
});

const shown = () =>
  page.evaluate(async () => {
    const worker = await navigator.serviceWorker.ready;
    return (await worker.getNotifications()).map(({ title, body, data }) => ({
      title,
      body,
      data: data as unknown,
    }));
  });

describe('notifications', () => {
  it('are switched on by a person, and say that without a push service they need an open page', async () => {
    await page.goto(`${vitto.url}/vitto/settings/notifications`);
    await page.getByText('Switched off here.').waitFor();
    await page.getByRole('button', { name: 'Switch on' }).click();
    await page.getByText('Switched on here, while a page of Vitto is open.').waitFor();
    // What this browser says of itself: it keeps nothing, so it takes no subscription.
    expect(errors.filter((text) => !text.includes('does not support the Push API in incognito'))).toEqual([]);
  });

  it('tell once of a question while the page is not looked at, as plain text', async () => {
    // A headless browser always looks at its page.
    await page.addInitScript(() => Object.defineProperty(document, 'hidden', { get: () => true }));
    await page.goto(`${vitto.url}/vitto/inbox`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await expect
      .poll(
        async () => {
          await vitto.call('POST', '/api/tasks', { prompt: 'ask me', model });
          return (await shown()).length;
        },
        { timeout: 30_000, interval: 1_000 },
      )
      .toBeGreaterThan(0);
    expect((await shown())[0]).toMatchObject({ title: 'I have a question', body: 'Which <b>colour</b>?' });
  });

  it('that the server pushes are shown by the worker, and one that is none is not', async () => {
    // Nobody looks at Vitto: it is not open at all.
    await page.goto('about:blank');
    const session = await context.newCDPSession(page);
    const ids = await readRegistration(session);
    await session.send('ServiceWorker.deliverPushMessage', {
      ...ids,
      data: JSON.stringify({
        title: 'Done',
        body: 'the tests are mended',
        tag: 't1',
        path: '/vitto',
        isUrgent: false,
      }),
    });
    await session.send('ServiceWorker.deliverPushMessage', { ...ids, data: 'not a message' });
    await page.goto(`${vitto.url}/vitto/inbox`);
    await expect.poll(async () => (await shown()).map((one) => one.title)).toContain('Done');
    expect(JSON.stringify(await shown())).not.toContain('not a message');
  });
});

async function readRegistration(session: Awaited<ReturnType<BrowserContext['newCDPSession']>>) {
  const found = new Promise<string>((resolve) =>
    session.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      const [one] = registrations;
      if (one !== undefined) resolve(one.registrationId);
    }),
  );
  await session.send('ServiceWorker.enable');
  return { origin: vitto.url, registrationId: await found };
}
