import { createHash, randomBytes } from 'node:crypto';
import pg from 'pg';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { launchBrowser } from '../../testing/browser.ts';
import { GOOD_KEY, startFakeModels, type FakeModels } from '../../testing/fake-models.ts';
import { buildWebApp, openPage, startRealVitto, type RealVitto } from '../../testing/real-vitto.ts';

let browser: Browser;
let models: FakeModels;
let vitto: RealVitto;
beforeAll(async () => {
  await buildWebApp();
  browser = await launchBrowser();
});
afterAll(() => browser.close());
beforeEach(async () => {
  models = await startFakeModels();
  models.ollamaModels = ['qwen3:8b'];
  vitto = await startRealVitto({ ANTHROPIC_BASE_URL: models.anthropicUrl, OLLAMA_HOST: models.ollamaHost });
});
afterEach(async () => {
  await vitto.end();
  await models.close();
});

interface Setup {
  mainModels: string[];
  providers: { name: string; source: string | null }[];
}
const readSetup = async () => (await vitto.call<Setup>('GET', '/api/models')).body;
const readSettings = async () =>
  (await vitto.call<{ dailyCostUsd: number | null; models: object }>('GET', '/api/settings')).body;
const way = (page: Page, name: string) => page.getByRole('region', { name });

it('takes a pasted key only after a model has answered, and suggests a daily cap', async () => {
  const { page, context, errors, strangers } = await openPage(browser, vitto);
  await page.getByText('I have no language model yet').waitFor();
  const keyWay = way(page, 'Paste a key');
  await keyWay.getByRole('button', { name: 'Test it' }).click();
  await keyWay.getByText('Paste the key.').waitFor();
  expect(await keyWay.getByLabel('Key', { exact: true }).getAttribute('aria-invalid')).toBe('true');

  await keyWay.getByLabel('Key', { exact: true }).fill('sk-ant-wrong-0123456789');
  await keyWay.getByText('Recognised by its beginning').waitFor();
  expect(await keyWay.getByLabel('Provider').inputValue()).toBe('anthropic');
  await keyWay.getByRole('button', { name: 'Test it' }).click();
  await keyWay.getByText('It did not answer.').waitFor();
  await keyWay.getByText('Nothing was kept.').waitFor();
  expect((await readSetup()).providers.find((one) => one.name === 'anthropic')?.source).toBeNull();

  await keyWay.getByLabel('Key', { exact: true }).fill(GOOD_KEY);
  await keyWay.getByRole('button', { name: 'Test it' }).dblclick();
  await page.getByText('I am here.').waitFor();
  const cap = page.getByLabel('At most, in US dollars a day');
  expect(await cap.inputValue()).toBe('5');
  await cap.fill('2,50');
  await page.getByRole('button', { name: 'Set the cap and start' }).click();
  await page.getByText('What can I do for you?').waitFor();
  expect((await readSettings()).dailyCostUsd).toBe(2.5);
  expect((await readSetup()).mainModels[0]).toMatch(/^anthropic\//);
  // What is pressed twice is asked once.
  expect(models.requests.filter((request) => request.key === GOOD_KEY)).toHaveLength(1);
  expect(await page.content()).not.toContain(GOOD_KEY);
  expect(errors).toEqual([]);
  expect(strangers).toEqual([]);
  await context.close();
});

it('takes a model of the Ollama on this machine by one press, and does not speak of money where there is none', async () => {
  const { page, context } = await openPage(browser, vitto);
  await page.getByRole('button', { name: 'Use qwen3:8b' }).click();
  await page.getByText('It costs nothing').waitFor();
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await page.getByText('What can I do for you?').waitFor();
  expect((await readSetup()).mainModels).toEqual(['ollama/qwen3:8b']);
  await page.reload();
  await page.getByText('What can I do for you?').waitFor();
  await context.close();
});

it('takes a server that speaks as OpenAI does, says what is wrong with it first, and keeps nothing that did not work', async () => {
  const { page, context } = await openPage(browser, vitto);
  const urlWay = way(page, 'Another server');
  await urlWay.getByLabel('Address').fill('not an address');
  await urlWay.getByRole('button', { name: 'Test it' }).click();
  await urlWay.getByText('Write a whole address').waitFor();
  await urlWay.getByLabel('Address').fill(models.compatibleUrl);
  await urlWay.getByLabel('Model', { exact: true }).fill('missing');
  await urlWay.getByRole('button', { name: 'Test it' }).click();
  await urlWay.getByText('does not exist').waitFor();
  await urlWay.getByText('Nothing was kept.').waitFor();
  expect((await readSetup()).providers.find((one) => one.name === 'compatible')?.source).toBeNull();
  await urlWay.getByLabel('Model', { exact: true }).fill('local/small');
  await urlWay.getByRole('button', { name: 'Test it' }).click();
  await page.getByText('No price is known for this model').waitFor();
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await page.getByText('What can I do for you?').waitFor();
  expect((await readSetup()).mainModels).toEqual(['compatible/local/small']);
  await context.close();
});

it('leaves what was stored before as it is when something else does not work', async () => {
  const stored = { baseUrl: models.compatibleUrl, apiKey: 'an-earlier-key-0123456789' };
  await vitto.call('PUT', '/api/models/providers/compatible', stored);
  const before = (await readSetup()).providers;
  const { page, context } = await openPage(browser, vitto);
  const urlWay = way(page, 'Another server');
  expect(await urlWay.getByLabel('Address').inputValue()).toBe(models.compatibleUrl);
  await urlWay.getByLabel('Key', { exact: true }).fill('another-key-0123456789');
  await urlWay.getByLabel('Model', { exact: true }).fill('missing');
  await urlWay.getByRole('button', { name: 'Test it' }).click();
  await urlWay.getByText('Nothing was kept.').waitFor();
  expect(models.requests.at(-1)?.key).toBe('another-key-0123456789');
  expect((await readSetup()).providers).toEqual(before);
  await context.close();
});

it('offers the demo, labelled as scripted', async () => {
  const { page, context } = await openPage(browser, vitto);
  await page.getByRole('button', { name: 'Watch the demo' }).waitFor();
  await page.getByText('Scripted', { exact: true }).waitFor();
  await context.close();
});

it('tells a member whom to ask, and lets them take what is there', async () => {
  const { page, context } = await openAsMember();
  await page.getByText('Keys are set up by the owner or an administrator').waitFor();
  expect(await way(page, 'Paste a key').count()).toBe(0);
  await page.getByRole('button', { name: 'Use qwen3:8b' }).waitFor();
  await page.goto(`${vitto.url}/vitto/settings/models`);
  await page.getByText('Only the owner or an administrator of this installation sets providers up').waitFor();
  expect(await page.getByRole('button', { name: /^Set up/ }).count()).toBe(0);
  await page.goto(`${vitto.url}/vitto/settings/mcp`);
  await page.getByRole('button', { name: 'Add a server' }).click();
  await page.getByText('Only the owner of this installation may name a program.').waitFor();
  await context.close();
});

/** A second person, who signs in by a code of their own. */
async function openAsMember() {
  const code = randomBytes(32).toString('base64url');
  const client = new pg.Client({ connectionString: vitto.databaseUrl });
  await client.connect();
  await client.query("insert into vitto_users (id, name, role) values (gen_random_uuid(), 'Mia', 'member')");
  await client.query(
    `insert into vitto_sign_in_codes (code_hash, user_id, expires_at)
     select $1, id, now() + interval '5 minutes' from vitto_users where name = 'Mia'`,
    [createHash('sha256').update(code).digest('hex')],
  );
  await client.end();
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${vitto.url}/sign-in#code=${code}`);
  await page.waitForURL(`${vitto.url}/vitto`);
  return { page, context };
}
