import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { launchBrowser } from '../../testing/browser.ts';
import { startFakeModels, type FakeModels } from '../../testing/fake-models.ts';
import { buildWebApp, openPage, startRealVitto, type RealVitto } from '../../testing/real-vitto.ts';

const STUB = join(import.meta.dirname, '../../testing/stub-mcp-server.mjs');
const LONG = 'a-rather-long-name-'.repeat(6);

let browser: Browser;
let models: FakeModels;
let vitto: RealVitto;
let bare: RealVitto;
beforeAll(async () => {
  await buildWebApp();
  browser = await launchBrowser();
  models = await startFakeModels();
  models.ollamaModels = ['qwen3:8b', `${LONG}:70b`];
  const environment = { OLLAMA_HOST: models.ollamaHost };
  vitto = await startRealVitto({
    ...environment,
    VITTO_COMPATIBLE_URL: models.compatibleUrl,
    VITTO_MODEL: `compatible/one,compatible/${LONG}`,
    VITTO_DAILY_COST_USD: '50',
  });
  bare = await startRealVitto(environment);
  await fill(vitto);
});
afterAll(async () => {
  await browser.close();
  await vitto.end();
  await bare.end();
  await models.close();
});

/** Something of everything, with names as long as they may be, and a server that has changed. */
async function fill({ call, home }: RealVitto): Promise<void> {
  await call('PATCH', '/api/settings', { allowedPaths: ['/usr/share'], timeZone: 'Europe/Madrid' });
  await call('PUT', `/api/secrets/${'LONG_NAME_'.repeat(6)}`, { value: 'a-value-of-a-secret' });
  await call('POST', '/api/deploy-keys', {
    repository: `git@forge.test:${LONG}/name.git`,
    hostKeys: ['ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl'],
  });
  await call('POST', '/api/tokens', { name: LONG.slice(0, 100), scopes: ['read', 'run'], expiresInDays: 30 });
  await call('PUT', '/api/skills/review-code', {
    text: `---\nname: review-code\ndescription: How we review. ${LONG}\nlicense: MIT\n---\n# Reviewing\n\n\`${LONG}\``,
    files: [{ path: `scripts/${LONG}.py`, content: 'eA==' }],
  });
  const tool = (name: string, description: string) => ({
    name,
    description,
    inputSchema: { type: 'object', properties: { [LONG]: { type: 'string' } } },
    annotations: { readOnlyHint: true },
  });
  const offer = join(home, 'offer.json');
  await writeFile(offer, JSON.stringify([tool('echo', 'Says it\u200b again.'), tool('gone', 'Goes.')]));
  const { body } = await call<{ id: string }>('POST', '/api/mcp-servers', {
    name: 'stub',
    transport: { kind: 'stdio', command: process.execPath, args: [STUB, offer] },
  });
  const check = () => call<{ offeredHash: string }>('POST', `/api/mcp-servers/${body.id}/check`, {});
  await call('POST', `/api/mcp-servers/${body.id}/approve`, {
    offeredHash: (await check()).body.offeredHash,
  });
  await writeFile(offer, JSON.stringify([tool('echo', `Says it again. ${LONG}`), tool('new', LONG)]));
  await check();
  await call('POST', '/api/mcp-servers', {
    name: 'far-away',
    transport: { kind: 'http', url: `http://${models.ollamaHost}/${LONG}`, headers: {} },
  });
}

async function checkPage(page: Page, name: string): Promise<void> {
  await page.evaluate(() =>
    Promise.all(
      document
        .getAnimations()
        .filter((animation) => animation.effect?.getComputedTiming().iterations === 1)
        .map((animation) => animation.finished.catch(() => undefined)),
    ),
  );
  const { violations } = await new AxeBuilder({ page }).analyze();
  const faults = violations.flatMap((one) =>
    one.nodes.map((node) => `${one.id}: ${node.html} ${node.failureSummary ?? ''}`),
  );
  expect(faults, name).toEqual([]);
  expect(await findOverflow(page), `${name} is wider than the screen`).toEqual([]);
}

/** What stands beyond the edge of the screen, outside of what scrolls by itself. */
function findOverflow(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll('main *')]
      .filter(
        (element) => element.checkVisibility() && element.closest('pre, .prose, .sr-only, svg') === null,
      )
      .filter((element) => {
        const box = element.getBoundingClientRect();
        return box.width > 1 && (box.right > window.innerWidth + 1 || box.left < -1);
      })
      .map((element) => element.outerHTML.slice(0, 200)),
  );
}

/** The forms and what is folded away, opened in the page. */
async function openAll(page: Page): Promise<void> {
  const closed = page.locator(
    'main button[data-state=closed]:visible, main button[aria-expanded=false]:visible',
  );
  for (let left = 30; left > 0 && (await closed.count()) > 0; left -= 1) await closed.first().click();
}

const SECTIONS: { id: string; en: string; es: string; add?: RegExp }[] = [
  { id: 'models', en: 'Models I work with', es: 'Modelos con los que trabajo' },
  { id: 'budgets', en: 'Each task', es: 'Cada tarea' },
  { id: 'general', en: 'Folders that I may read everywhere', es: 'Carpetas que puedo leer siempre' },
  { id: 'machines', en: 'Further hosts', es: 'Otros servidores' },
  { id: 'mcp', en: 'far-away', es: 'far-away', add: /^(Add a server|Añadir un servidor)$/ },
  { id: 'skills', en: 'review-code', es: 'review-code', add: /^(Add a skill|Añadir una habilidad)$/ },
  { id: 'secrets', en: 'LONG_NAME_', es: 'LONG_NAME_', add: /^(Add a secret|Añadir un secreto)$/ },
  {
    id: 'tokens',
    en: 'vitto on this machine',
    es: 'vitto on this machine',
    add: /^(Make a token|Crear un token)$/,
  },
];

for (const [width, dark, locale] of [
  [390, false, 'en-GB'],
  [390, true, 'es-ES'],
  [1280, false, 'es-ES'],
  [1280, true, 'en-GB'],
] as const) {
  it(`is accessible and fits ${width} px in ${dark ? 'dark' : 'light'}, in ${locale}`, async () => {
    const visit = await openPage(browser, vitto, { width, dark, locale });
    const { page } = visit;
    const language = locale === 'es-ES' ? 'es' : 'en';
    await vitto.call('PATCH', '/api/settings', { language });
    await page.goto(`${vitto.url}/vitto/settings`);
    await page.getByRole('navigation').getByText('MCP').first().waitFor();
    await checkPage(page, 'the list');
    for (const section of SECTIONS) {
      await page.goto(`${vitto.url}/vitto/settings/${section.id}`);
      await page.locator('main').getByText(section[language]).first().waitFor();
      if (section.add !== undefined) await page.getByRole('button', { name: section.add }).click();
      await openAll(page);
      await checkPage(page, section.id);
    }
    expect(visit.errors).toEqual([]);
    await visit.context.close();

    const first = await openPage(browser, bare, { width, dark, locale });
    await first.page.getByText('qwen3:8b').first().waitFor();
    await checkPage(first.page, 'set-up');
    await first.page.getByRole('button', { name: /qwen3:8b$/ }).click();
    await first.page.getByText('I am here.').waitFor();
    await checkPage(first.page, 'set-up, tested');
    expect(first.errors).toEqual([]);
    await first.context.close();
  });
}
